# SPDX-License-Identifier: Apache-2.0
"""Which commands meet faults, on which machines, and which faults a function can have."""
import collections
import errno

# arguments: SCRATCH is an empty directory of that run. form: how outputs are compared, by judge.py.
Case = collections.namedtuple("Case", "name machine arguments statuses form")

DONE = (0, 1, 2)  # exit statuses of a command
CHECKED = (0, 1, 2, 3)  # of check


def case(machine, *arguments, statuses=DONE, form=None):
    return Case(f"{' '.join(arguments)} ({machine})", machine, arguments, statuses, form)


CASES = (
    case("rxe", "collect", "--format=prometheus", form="samples"),
    case("roce-ethernet", "collect", "--format=openmetrics", form="samples"),
    case("sriov", "collect", "--format=prometheus", form="samples"),
    case("mad", "collect", "--format=prometheus", form="samples"),
    case("optics", "collect", "--format=json"),
    case("roce-8rail-gpu", "nccl", form="variables"),
    case("roce-8rail-gpu", "env", "--for=openmpi", "--gpu=0", form="variables"),
    case("roce-qos", "status"),
    case("roce-troubles", "check", "--once", statuses=CHECKED),
    case("gpus-only", "topology", "--json"),
    case("pcie-troubles", "topology"),
    case("rxe", "kube", "show"),
    case("rxe", "status", "--gids"),
    case("rxe", "check-config"),
    case("rxe", "doctor"),
    case("rxe", "describe", "json"),
    case("sriov", "record", "SCRATCH/recorded"),
    case(None, "collect", "--format=prometheus"),  # of this node: netlink
)

MEMORY = (errno.ENOMEM,)
DESCRIPTOR = (errno.EMFILE,)
NETLINK = (errno.ENOBUFS, errno.EINTR)
# Attributes of sysfs come whole, by one pread(); all else is read in pieces.
FAULTS = {
    **dict.fromkeys(("malloc", "calloc", "realloc", "reallocarray", "aligned_alloc",
                     "posix_memalign", "strdup", "strndup"), MEMORY),
    **dict.fromkeys(("open", "openat", "openat2", "opendir", "fopen", "fopen64", "socket",
                     "eventfd", "timerfd_create", "epoll_create1", "inotify_init1", "pipe2"),
                    DESCRIPTOR),
    **dict.fromkeys(("readdir", "readdir64", "readlink", "readlinkat", "fdopendir", "flock"),
                    (errno.EIO,)),
    **dict.fromkeys(("pread", "pread64"), (errno.EIO, errno.EINTR)),
    **dict.fromkeys(("mkdir", "fsync", "renameat", "unlinkat"), (errno.ENOSPC,)),
    **dict.fromkeys(("sendmsg", "recvmsg", "sendto", "recvfrom"), NETLINK),
    "read": (errno.EIO, errno.EINTR, "short"),
    "write": (errno.ENOSPC, errno.EINTR, "short"),
    "pthread_create": (errno.EAGAIN,),
}
