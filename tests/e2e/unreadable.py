#!/usr/bin/python3
"""unreadable.py DIR SECONDS: whoever reads its command line or its environment waits.

For those the kernel takes the lock of its memory map, which one thread holds for writing that waits
for another, in a fault on a file below DIR that nobody answers.  Prints its PID once that is so, and
ends, as all that waits, when SECONDS are over.  In a mount namespace of its own.
"""
import ctypes
import errno
import os
import signal
import struct
import sys
import threading
import time

LOOKUP, GETATTR, OPEN, READ, INIT = 1, 3, 14, 15, 26  # linux/fuse.h
RETRIES = 2  # a fault that may let go of the lock comes back as often
PAGE = 4096

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                      ctypes.c_long]


def attributes(node):
    mode, size = (0o40755, 0) if node == 1 else (0o100644, 1 << 20)
    return struct.pack("<6Q10I", node, size, 8, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, PAGE, 0)


def serve(fd):
    """A file system of one file, of which nothing can be read."""
    reads = 0
    while True:
        _, what, unique, node = struct.unpack_from("<IIQQ", os.read(fd, 1 << 17))
        error, out = 0, b""
        if what == INIT:
            out = struct.pack("<4I2H2I2H2I4x4x4x", 7, 31, 65536, 0, 12, 9, 65536, 1, 1, 0, 0, 0)
        elif what == LOOKUP:
            out = struct.pack("<4Q2I", 2, 1, 60, 60, 0, 0) + attributes(2)
        elif what == GETATTR:
            out = struct.pack("<Q2I", 60, 0, 0) + attributes(node)
        elif what == OPEN:
            out = struct.pack("<Q2I", 1, 0, 0)
        elif what == READ:
            reads += 1
            if reads > RETRIES:
                continue
            error = -errno.EIO
        else:
            error = -errno.ENOSYS
        os.write(fd, struct.pack("<IiQ", 16 + len(out), error, unique) + out)


def main(folder, seconds):
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0"
    if libc.mount(b"none", folder.encode(), b"fuse", 0, options.encode()) < 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    if os.fork() == 0:
        signal.alarm(seconds)
        serve(fd)
    os.close(fd)
    file = os.open(folder + "/f", os.O_RDONLY)
    at = ctypes.c_void_p(libc.mmap(None, PAGE, 1, 2, file, 0))
    threading.Thread(target=lambda: libc.memchr(at, 1, 1), daemon=True).start()
    time.sleep(0.3)
    print(os.getpid(), flush=True)
    libc.mprotect(at, PAGE, 3)
    time.sleep(seconds)


main(sys.argv[1], int(sys.argv[2]))
