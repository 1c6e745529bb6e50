#!/usr/bin/perl
# The driver of `make check`: runs one test program, reads the TAP it prints
# (scripts and cmocka programs alike) and writes one result for each test in
# it, in the form that Automake counts.
#
# What no test can say of itself is a failed test too: a crash, an exit status
# other than 0, a plan that is missing or not kept, time that ran out, and
# processes that were left running.
#
# A program gets TEST_TIMEOUT seconds, 120 if that is not set; a script asks for
# another time by a line "# timeout: SECONDS" among its first 20.  It runs
# in a session of its own, without a terminal, with default signal actions and
# stdin at /dev/null.
use strict;
use warnings;
use Getopt::Long;
use POSIX qw(setsid :signal_h :sys_wait_h);

my $limit_default = 120;
my $term_grace = 5;  # seconds between TERM and KILL, for a script's cleanup
my $exit_grace = 2;  # seconds for what a test has just ended to be gone
my $exit_skip = 77;  # exit status of a program that cannot run here (Automake's)

my %opt = ('color-tests' => 'no');
GetOptions(\%opt, 'test-name=s', 'log-file=s', 'trs-file=s', 'color-tests=s',
	'expect-failure=s', 'collect-skipped-logs=s', 'enable-hard-errors=s') && @ARGV
	or die "driver.pl: bad usage\n";

sub slurp {
	my ($path) = @_;

	local $/;
	open my $f, '<', $path or return '';
	return <$f> // '';
}

# comm, state, session and start time (clock ticks): proc_pid_stat(5).
sub stat_of {
	my ($pid) = @_;

	return slurp("/proc/$pid/stat") =~ /\((.*)\) (\S) \d+ \d+ (\d+)(?: -?\d+){15} (\d+)/s;
}

my $mark = "$$-" . time;
my $born = (stat_of($$))[3];

sub time_limit {
	my ($program) = @_;

	if (open my $f, '<', $program) {
		read $f, my $start, 2;
		if ($start eq '#!') {
			while (<$f>) {
				return $1 if /^#\s*timeout:\s*(\d+)\s*$/;
				last if $. > 20;
			}
		}
	}
	return $ENV{TEST_TIMEOUT} || $limit_default;
}

# Everything that is alive and in the test's session or carries its mark, as
# [PID, name].  A process in the middle of an exec has no environment to read:
# a young one without any is looked at again.
sub alive {
	my ($leader) = @_;
	my (@found, $unsure);

	for my $tries (1 .. 10) {
		@found = ();
		$unsure = 0;
		for my $dir (glob '/proc/[0-9]*') {
			my ($pid) = $dir =~ /(\d+)$/;
			my ($comm, $state, $sid, $start) = stat_of($pid) or next;
			next if $state =~ /[ZX]/ || $pid == $$ || $start < $born;
			# Reading the environment of a process in D can take as long as it stays there.
			my $environ = $state eq 'D' ? '' : slurp("$dir/environ");
			push @found, [$pid, $comm] if $sid == $leader || "\0$environ" =~ /\0TEST_MARK=\Q$mark\E\0/;
			$unsure = 1 if $sid && $environ eq '';
		}
		last if !$unsure;
		select undef, undef, undef, 0.01;
	}
	return @found;
}

sub end_all {
	my ($leader, $signal) = @_;

	kill $signal, map { $_->[0] } alive($leader);
}

sub start {
	my $pid = fork // die "driver.pl: fork: $!\n";
	return $pid if $pid;
	setsid();
	open STDIN, '<', '/dev/null' or die;
	open STDOUT, '>', $opt{'log-file'} or die;
	open STDERR, '>&', \*STDOUT or die;
	$SIG{$_} = 'DEFAULT' for qw(HUP INT QUIT PIPE ALRM TERM CHLD);
	sigprocmask(SIG_SETMASK, POSIX::SigSet->new);
	delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL)};
	$ENV{CMOCKA_MESSAGE_OUTPUT} = 'TAP';
	$ENV{TEST_MARK} = $mark;
	{ exec { $ARGV[0] } @ARGV }
	print STDERR "driver.pl: $ARGV[0]: $!\n";
	POSIX::_exit(127);
}

# Returns what was wrong with the program as a whole, and its exit status.
sub run {
	my $limit = time_limit($ARGV[-1]);
	my @wrong;
	my $pid = start();

	for my $name (qw(HUP INT TERM)) {
		$SIG{$name} = sub {
			end_all($pid, 'KILL');
			$SIG{$name} = 'DEFAULT';
			kill $name, $$;
		};
	}
	my $stage = 0;
	$SIG{ALRM} = sub {
		end_all($pid, $stage++ ? 'KILL' : 'TERM');
		alarm $term_grace;
	};
	alarm $limit;
	waitpid $pid, 0;
	my $status = $?;
	alarm 0;
	if ($stage) {
		push @wrong, "the program did not end within $limit s";
	} elsif (WIFSIGNALED($status)) {
		push @wrong, 'the program was ended by signal ' . WTERMSIG($status);
	}
	my @left = alive($pid);
	for (my $tries = $exit_grace * 20; @left && $tries && !$stage; $tries--) {
		select undef, undef, undef, 0.05;
		@left = alive($pid);
	}
	if (@left) {
		push @wrong, 'the program left running: ' . join ', ', map { "$_->[1] ($_->[0])" } @left unless $stage;
		end_all($pid, 'KILL');
	}
	return (\@wrong, WIFEXITED($status) ? WEXITSTATUS($status) : undef);
}

# Reads the log: results as [PASS|FAIL|SKIP, text], and the plan.  A cmocka
# program has a plan for each group: they add up.
sub parse {
	my (@results, $planned, $skip_all, $before);

	open my $log, '<', $opt{'log-file'} or die "driver.pl: $opt{'log-file'}: $!\n";
	while (my $line = <$log>) {
		chomp $line;
		if ($line =~ /^1\.\.(\d+)(?:\s*#\s*SKIP\S*\s*(.*))?/i) {
			$planned += $1;
			$skip_all = $2 // '' if $1 == 0;
		} elsif ($line =~ /^(not )?ok\b\s*\d*\s*(?:-\s*)?(.*)/) {
			my ($bad, $text) = ($1, $2);
			if ($text =~ /^(.*?)\s*#\s*SKIP\S*\s*(.*)/i) {
				# cmocka puts the name there; the reason is what the test printed.
				my @parts = grep { defined && length } $1, $2, length $1 ? undef : $before;
				push @results, @parts > 1 ? ['SKIP', join ': ', @parts]
					: ['FAIL', "skipped without a reason: @parts"];
			} else {
				push @results, [$bad ? 'FAIL' : 'PASS', $text];
			}
			undef $before;
		} elsif ($line =~ /^Bail out!\s*(.*)/i) {
			push @results, ['FAIL', "bailed out: $1"];
		} elsif ($line !~ /^#/) {
			$before = $line;
		}
	}
	return (\@results, $planned, $skip_all);
}

sub skip_all {
	my ($reason) = @_;

	return length $reason ? ['SKIP', $reason] : ['FAIL', 'the program skipped itself without a reason'];
}

sub say_result {
	my ($kind, $text) = @_;
	my %color = (PASS => "\e[0;32m", FAIL => "\e[0;31m", SKIP => "\e[1;34m");

	print $opt{'color-tests'} eq 'yes' ? "$color{$kind}$kind\e[m" : $kind, ": $text\n";
}

my ($wrong, $exit) = run();
my ($results, $planned, $skip_all) = parse();
my $failed = grep { $_->[0] eq 'FAIL' } @$results;
my $skipped = grep { $_->[0] eq 'SKIP' } @$results;

if (!@$wrong) {
	if ($exit == $exit_skip && !@$results) {
		open my $log, '<', $opt{'log-file'} or die;
		my @lines = <$log>;
		chomp(my $reason = $lines[-1] // '');
		push @$results, skip_all($reason);
	} elsif (defined $skip_all && !@$results && $exit == 0) {
		push @$results, skip_all($skip_all);
	} else {
		my $ran = @$results;
		push @$wrong, "the program ended with status $exit"
			if $exit && !$failed && !($exit == $exit_skip && $skipped == $ran);
		push @$wrong, 'the program made no plan' if !$planned;
		push @$wrong, "the program planned $planned tests and ran $ran"
			if $planned && $planned != $ran;
	}
}
push @$results, map { ['FAIL', $_] } @$wrong;

my %count = (PASS => 0, FAIL => 0, SKIP => 0);
open my $trs, '>', $opt{'trs-file'} or die "driver.pl: $opt{'trs-file'}: $!\n";
for (@$results) {
	my ($kind, $text) = @$_;
	$count{$kind}++;
	print $trs ":test-result: $kind $text\n";
	say_result($kind, "$opt{'test-name'}: $text") if $kind ne 'PASS';
}
my $all = $count{FAIL} ? 'FAIL' : $count{PASS} ? 'PASS' : 'SKIP';
say_result('PASS', "$opt{'test-name'} ($count{PASS})") if $all eq 'PASS';
print $trs ":global-test-result: $all\n";
print $trs ':recheck: ', $all eq 'FAIL' ? "yes\n" : "no\n";
print $trs ':copy-in-global-log: ', $all eq 'PASS' ? "no\n" : "yes\n";
close $trs or die "driver.pl: $opt{'trs-file'}: $!\n";
open my $log, '>>', $opt{'log-file'} or die;
print $log "# $_\n" for @$wrong;
