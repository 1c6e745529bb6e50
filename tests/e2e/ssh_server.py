"""An ssh server of a test's own: on loopback, with its own keys and its own list of users, so that
nobody's home and no configuration of the host is read or written."""
import contextlib
import os
import shutil
import socket
import subprocess
import tempfile

from e2e import Skip, until

USER = "acting"  # a name that no host's shadow file knows: it is locked for nobody
SSHD = """ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/home/.ssh/authorized_keys
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
"""


def find(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


class Server:
    def __init__(self, folder):
        self.folder = tempfile.mkdtemp(dir=folder)
        os.chmod(self.folder, 0o755)
        sshd, dropbear = find("sshd"), find("dropbear")
        if not sshd and not dropbear:
            raise Skip("no sshd and no dropbear")
        self.port = free_port()
        self.make_keys(bool(sshd))
        inner = self.sshd(sshd) if sshd else self.dropbear(dropbear)
        self.log = open(f"{self.folder}/log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(self.among_its_users(inner), stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log, start_new_session=True)
        try:
            until(self.answers)
        except AssertionError:
            self.__exit__()
            raise Skip(f"no ssh server can run here: {self.said()[-200:]}") from None

    def said(self):
        self.log.seek(0)
        return self.log.read().strip().replace("\n", "; ")

    def make_keys(self, openssh):
        os.makedirs(f"{self.folder}/home/.ssh", 0o700)
        keygen = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f"]
        subprocess.run([*keygen, f"{self.folder}/user"], check=True)
        shutil.copy(f"{self.folder}/user.pub", f"{self.folder}/home/.ssh/authorized_keys")
        os.chmod(f"{self.folder}/home/.ssh/authorized_keys", 0o600)
        host = keygen if openssh else ["dropbearkey", "-t", "ed25519", "-f"]
        subprocess.run([*host, f"{self.folder}/host"], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def sshd(self, program):
        with open(f"{self.folder}/sshd_config", "w", encoding="utf-8") as f:
            f.write(SSHD.format(port=self.port, folder=self.folder))
        return [program, "-D", "-e", "-f", f"{self.folder}/sshd_config"]

    def dropbear(self, program):
        return [program, "-F", "-E", "-s", "-r", f"{self.folder}/host", "-p",
                f"127.0.0.1:{self.port}"]

    def among_its_users(self, command):
        """In a mount namespace with a list of users of its own, as the user that it is."""
        uid = 0 if os.geteuid() == 0 else 1000
        with open(f"{self.folder}/passwd", "w", encoding="utf-8") as f:
            f.write(f"{USER}:*:{uid}:{uid}::{self.folder}/home:/bin/sh\n"
                    "root:*:0:0::/:/bin/sh\nsshd:*:65533:65534::/run/sshd:/usr/sbin/nologin\n")
        # /run: where sshd wants a directory of root's
        script = (f"mount --bind {self.folder}/passwd /etc/passwd && mount -t tmpfs none /run && "
                  'mkdir /run/sshd && exec "$@"')
        if uid == 0:
            return ["unshare", "-m", "sh", "-c", script, "sh", *command]
        return ["unshare", "-Urm", "sh", "-c", script, "sh", "unshare", "-U", "--map-user", "1000",
                "--map-group", "1000", *command]

    def answers(self):
        assert self.process.poll() is None, "it ended"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def client(self, command):
        """The command line that runs a shell command on it."""
        return ["ssh", "-F", "none", "-i", f"{self.folder}/user", "-p", str(self.port),
                "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none",
                "-o", "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={self.folder}/known",
                "-o", "LogLevel=ERROR", f"{USER}@127.0.0.1", command]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        self.log.close()
