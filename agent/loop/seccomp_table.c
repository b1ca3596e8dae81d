// SPDX-License-Identifier: Apache-2.0
/*
 * The system calls that the agent and its children are allowed: exactly what the unit allows with
 * the profiles verbs and priority, @system-service without @privileged and @resources, as systemd
 * 252 has these groups; tests/systemd/run holds this table to the unit. Names that an architecture
 * does not have are passed over.
 */
#include <stddef.h>

#include "seccomp_filter.h"

/* As many in a line as fit. */
/* clang-format off */
const char *const rna_seccomp_allowed[] = {
	"_llseek", "_newselect", "accept", "accept4", "access", "add_key", "alarm", "arch_prctl",
	"arm_fadvise64_64", "bind", "brk", "cacheflush", "capget", "chdir", "chmod",
	"clock_getres", "clock_getres_time64", "clock_gettime", "clock_gettime64",
	"clock_nanosleep", "clock_nanosleep_time64", "clone", "clone3", "close", "close_range",
	"connect", "copy_file_range", "creat", "dup", "dup2", "dup3", "epoll_create",
	"epoll_create1", "epoll_ctl", "epoll_ctl_old", "epoll_pwait", "epoll_pwait2",
	"epoll_wait", "epoll_wait_old", "eventfd", "eventfd2", "execve", "execveat", "exit",
	"exit_group", "faccessat", "faccessat2", "fadvise64", "fadvise64_64", "fallocate",
	"fchdir", "fchmod", "fchmodat", "fchmodat2", "fcntl", "fcntl64", "fdatasync", "fgetxattr",
	"flistxattr", "flock", "fork", "fremovexattr", "fsetxattr", "fstat", "fstat64",
	"fstatat64", "fstatfs", "fstatfs64", "fsync", "ftruncate", "ftruncate64", "futex",
	"futex_time64", "futex_waitv", "futimesat", "get_mempolicy", "get_robust_list",
	"get_thread_area", "getcpu", "getcwd", "getdents", "getdents64", "getegid", "getegid32",
	"geteuid", "geteuid32", "getgid", "getgid32", "getgroups", "getgroups32", "getitimer",
	"getpeername", "getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getrandom",
	"getresgid", "getresgid32", "getresuid", "getresuid32", "getrlimit", "getrusage",
	"getsid", "getsockname", "getsockopt", "gettid", "gettimeofday", "getuid", "getuid32",
	"getxattr", "inotify_add_watch", "inotify_init", "inotify_init1", "inotify_rm_watch",
	"io_cancel", "io_destroy", "io_getevents", "io_pgetevents", "io_pgetevents_time64",
	"io_setup", "io_submit", "io_uring_enter", "io_uring_register", "io_uring_setup", "ioctl",
	"ioprio_get", "ipc", "kcmp", "keyctl", "kill", "lgetxattr", "link", "linkat", "listen",
	"listxattr", "llistxattr", "lremovexattr", "lseek", "lsetxattr", "lstat", "lstat64",
	"madvise", "mbind", "membarrier", "memfd_create", "mkdir", "mkdirat", "mknod", "mknodat",
	"mlock", "mlock2", "mlockall", "mmap", "mmap2", "mprotect", "mq_getsetattr", "mq_notify",
	"mq_open", "mq_timedreceive", "mq_timedreceive_time64", "mq_timedsend",
	"mq_timedsend_time64", "mq_unlink", "mremap", "msgctl", "msgget", "msgrcv", "msgsnd",
	"msync", "munlock", "munlockall", "munmap", "name_to_handle_at", "nanosleep",
	"newfstatat", "oldfstat", "oldlstat", "oldolduname", "oldstat", "olduname", "open",
	"openat", "openat2", "pause", "personality", "pidfd_open", "pidfd_send_signal", "pipe",
	"pipe2", "poll", "ppoll", "ppoll_time64", "prctl", "pread64", "preadv", "preadv2",
	"prlimit64", "process_madvise", "process_vm_readv", "process_vm_writev", "pselect6",
	"pselect6_time64", "pwrite64", "pwritev", "pwritev2", "read", "readahead", "readdir",
	"readlink", "readlinkat", "readv", "recv", "recvfrom", "recvmmsg", "recvmmsg_time64",
	"recvmsg", "remap_file_pages", "removexattr", "rename", "renameat", "renameat2",
	"request_key", "restart_syscall", "riscv_flush_icache", "riscv_hwprobe", "rmdir", "rseq",
	"rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo", "rt_sigreturn",
	"rt_sigsuspend", "rt_sigtimedwait", "rt_sigtimedwait_time64", "rt_tgsigqueueinfo",
	"sched_get_priority_max", "sched_get_priority_min", "sched_getaffinity", "sched_getattr",
	"sched_getparam", "sched_getscheduler", "sched_rr_get_interval",
	"sched_rr_get_interval_time64", "sched_setaffinity", "sched_setscheduler", "sched_yield", "select", "semctl",
	"semget", "semop", "semtimedop", "semtimedop_time64", "send", "sendfile", "sendfile64",
	"sendmmsg", "sendmsg", "sendto", "set_mempolicy", "set_robust_list", "set_thread_area",
	"set_tid_address", "set_tls", "setfsgid", "setfsgid32", "setgid", "setgid32", "setitimer",
	"setns", "setpgid", "setpriority", "setregid", "setregid32", "setresgid", "setresgid32", "setsid",
	"setsockopt", "setxattr", "shmat", "shmctl", "shmdt", "shmget", "shutdown", "sigaction",
	"sigaltstack", "signal", "signalfd", "signalfd4", "sigpending", "sigprocmask",
	"sigreturn", "sigsuspend", "socket", "socketcall", "socketpair", "splice", "stat",
	"stat64", "statfs", "statfs64", "statx", "swapcontext", "symlink", "symlinkat", "sync",
	"sync_file_range", "sync_file_range2", "syncfs", "sysinfo", "tee", "tgkill", "time",
	"timer_create", "timer_delete", "timer_getoverrun", "timer_gettime", "timer_gettime64",
	"timer_settime", "timer_settime64", "timerfd_create", "timerfd_gettime",
	"timerfd_gettime64", "timerfd_settime", "timerfd_settime64", "times", "tkill", "truncate",
	"truncate64", "ugetrlimit", "umask", "uname", "unlink", "unlinkat", "unshare",
	"uretprobe", "userfaultfd", "utime", "utimensat", "utimensat_time64", "utimes", "vfork",
	"vmsplice", "wait4", "waitid", "waitpid", "write", "writev",
	NULL,
};

/* What libraries may well ask for, to do without when they may not. */
const char *const rna_seccomp_refused[] = {
	"_sysctl", "adjtimex", "capset", "chown", "chown32", "chroot", "clock_adjtime",
	"clock_adjtime64", "fanotify_init", "fanotify_mark", "fchown", "fchown32", "fchownat",
	"ioprio_set", "lchown", "lchown32", "migrate_pages", "move_pages", "nfsservctl", "nice",
	"pciconfig_iobase", "pciconfig_read", "pciconfig_write", "quotactl_fd",
	"s390_pci_mmio_read", "s390_pci_mmio_write", "sched_setattr", "sched_setparam",
	"set_mempolicy_home_node", "setfsuid", "setfsuid32", "setgroups",
	"setgroups32", "setresuid", "setresuid32", "setreuid", "setreuid32",
	"setrlimit", "setuid", "setuid32", "vhangup",
	NULL,
};

/*
 * What the prober does without, once it runs: programs, processes, listening, names of files, keys,
 * and the memory and namespaces of others. libibverbs opens files and devices, makes threads and
 * netlink sockets, and providers before mlx5's kernel path ask for a neighbour by a UDP socket
 * (libibverbs/neigh.c, rdma-core v44), so these stay.
 */
const char *const rna_seccomp_prober_refused[] = {
	"accept", "accept4", "add_key", "chdir", "chmod", "creat", "execve", "execveat", "fallocate",
	"fchdir", "fchmod", "fchmodat", "fchmodat2", "fork", "fremovexattr", "fsetxattr",
	"ftruncate", "ftruncate64", "futimesat", "io_setup", "io_submit", "io_uring_enter",
	"io_uring_register", "io_uring_setup", "kcmp", "keyctl", "kill", "link", "linkat",
	"listen", "lremovexattr", "lsetxattr", "mkdir", "mkdirat", "mknod", "mknodat", "mq_open",
	"msgget", "name_to_handle_at", "personality", "pidfd_open", "pidfd_send_signal",
	"process_madvise", "process_vm_readv", "process_vm_writev", "removexattr", "rename",
	"renameat", "renameat2", "request_key", "rmdir", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
	"semget", "setns", "setpgid", "setsid", "setxattr", "symlink", "symlinkat",
	"truncate", "truncate64", "unlink", "unlinkat", "unshare", "userfaultfd", "utime",
	"utimensat", "utimensat_time64", "utimes", "vfork",
	NULL,
};

/* Calls that the agent never makes: a caller is an attacker. */
const char *const rna_seccomp_hostile[] = {
	"acct", "bpf", "clock_settime", "clock_settime64", "delete_module", "finit_module",
	"fsconfig", "fsmount", "fsopen", "fspick", "init_module", "ioperm", "iopl",
	"kexec_file_load", "kexec_load", "mount", "mount_setattr", "move_mount",
	"open_by_handle_at", "open_tree", "perf_event_open", "pivot_root", "ptrace", "quotactl",
	"reboot", "setdomainname", "sethostname", "settimeofday", "stime", "swapoff", "swapon",
	"umount", "umount2",
	NULL,
};
/* clang-format on */
