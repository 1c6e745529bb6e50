#!/usr/bin/perl
# The smallest shell with job control: runs one command in the foreground of
# its terminal and says in which state it finds the terminal afterwards.
#
#	job.pl PIDFILE COMMAND...
#
# Prints "STOPPED cooked" (or raw) and continues it on Enter; at its end
# "EXIT STATUS SIGNAL cooked" (or raw), and waits for a line.  Unlike a real
# shell it leaves the modes as they are, so that what is seen is the command's
# work; only after STOPPED raw it sets them, as a shell must.
use strict;
use warnings;
use POSIX qw(:sys_wait_h :termios_h getpgrp setpgid tcsetpgrp);

my ($pidfile, @command) = @ARGV;
my $tty = 0;

alarm 120;
$| = 1;
$SIG{TTOU} = 'IGNORE';
my $cooked = POSIX::Termios->new;
$cooked->getattr($tty);

my $pid = fork // die "fork: $!\n";
if (!$pid) {
	setpgid(0, 0);
	tcsetpgrp($tty, $$);
	$SIG{TTOU} = 'DEFAULT';
	alarm 0;
	exec @command or die "$command[0]: $!\n";
}
setpgid($pid, $pid);
open my $f, '>', $pidfile or die "$pidfile: $!\n";
print $f "$pid\n";
close $f;

sub modes {
	my $now = POSIX::Termios->new;

	$now->getattr($tty);
	my $want = ICANON | ECHO | ISIG;
	return ($now->getlflag & $want) == $want ? 'cooked' : 'raw';
}

while (1) {
	waitpid $pid, WUNTRACED;
	my $modes = modes();
	tcsetpgrp($tty, getpgrp());
	# Not reaped: it was a stop.  (perl has no status for that.)
	if (!kill 0, $pid) {
		printf "EXIT %d %d %s\n", $? >> 8, $? & 127, $modes;
		<STDIN>;
		exit;
	}
	$cooked->setattr($tty, TCSANOW) if $modes eq 'raw';
	print "STOPPED $modes\n";
	<STDIN>;
	tcsetpgrp($tty, $pid);
	kill 'CONT', -$pid;
}
