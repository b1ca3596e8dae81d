// SPDX-License-Identifier: Apache-2.0
/*
 * A library for LD_PRELOAD that makes one call fail, and lists the calls that could.
 *
 * Calls are told apart by their place: the function, who called it, and the innermost frames of the
 * program behind that. A program makes a million calls, but from some hundred places, and each
 * place deserves to fail once. Below a directory (RNA_FAULTS_UNDER) they are told apart by their
 * number instead, for there each call matters, and only those count.
 *
 *   RNA_FAULTS_LOG=FILE    gets the lines "place KEY FUNCTION MODULE+OFFSET...", "failed KEY", and
 *                          at the end "left FD TARGET" for each descriptor that is open
 *   RNA_FAULTS_FAIL=KEY:FAULT    the first call at that place fails; FAULT is the number of an
 *                          errno, "short", or "before" or "after": the process is killed there
 *   RNA_FAULTS_UNDER=DIR   counts calls that touch DIR or what is in it; KEY is their number
 *   RNA_FAULTS_FILE=FILE   as long as there is FILE, KEY:FAULT stands in there, and all calls below
 *                          the directory of the function KEY fail, or with "hang" wait for its end
 *
 * Or all places of a daemon fail in turn, each with each fault of its function, never two of them
 * in a thread within 10 ms:
 *
 *   RNA_FAULTS_EACH=FILE   while it begins with "f"; with "l" they are listed, and with "-" nothing
 *                          happens. The log gets "failed KEY:FAULT MILLISECONDS".
 *   RNA_FAULTS_WITH=LIST   "FUNCTION:FAULT FUNCTION:FAULT..."
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

enum {
	FRAMES_OURS = 4, /* of the program, that tell a place */
	FRAMES_MAX = 48, /* that are looked at */
	SEEN_SIZE = 1 << 16,
	SHORT = -1,
	AFTER = -2,
	HANG = -3,
	KEY_SIZE = 32,
	KINDS_MAX = 128, /* faults of all functions */
	PAUSE_MS = 10,
};

/* What may happen to a function; a function has several in a row. */
struct kind {
	char function[24];
	int fault;
};

static struct {
	bool ready;
	int log;
	char key[KEY_SIZE];
	int fault; /* an errno, SHORT or AFTER */
	bool kill_before;
	const char *under, *file;
	unsigned long calls; /* below the directory */
	bool fired;
	uint64_t seen[SEEN_SIZE];
	uint8_t had[SEEN_SIZE];    /* how many faults of the place that is there in seen */
	const volatile char *each; /* the first byte of the file */
	struct kind kinds[KINDS_MAX];
	size_t kind_count;
	uintptr_t program_start, program_end;
	pid_t process; /* what it forks is not asked what it leaves */
} state = {.log = -1};

/* Set while a thread is in here, where the same functions are used, or in one that calls another.
 */
static __thread bool inside __attribute__((tls_model("initial-exec")));
static __thread bool dies_after __attribute__((tls_model("initial-exec")));
static __thread uint64_t failed_at __attribute__((tls_model("initial-exec"))); /* milliseconds */

/* The next one of that name: of a sanitizer, or of the C library. */
#define NEXT(function)                                                                             \
	({                                                                                         \
		static __typeof__(&function) next;                                                 \
		if (!next)                                                                         \
			next = (__typeof__(&function))dlsym(RTLD_NEXT, #function);                 \
		next;                                                                              \
	})

/* -- Start and end ----------------------------------------------------------------------------- */

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	char line[PATH_MAX + 256];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (state.log >= 0 && len > 0 && write(state.log, line, (size_t)len) < 0)
		abort();
}

static int find_program(struct dl_phdr_info *info, size_t size, void *userdata)
{
	(void)size, (void)userdata;
	state.program_start = (uintptr_t)info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t end = (uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr +
					    info->dlpi_phdr[i].p_memsz);

		if (info->dlpi_phdr[i].p_type == PT_LOAD && end > state.program_end)
			state.program_end = end;
	}
	return 1; /* the program is the first */
}

static int fault_of(const char *text)
{
	if (strcmp(text, "short") == 0)
		return SHORT;
	if (strcmp(text, "hang") == 0)
		return HANG;
	return strcmp(text, "after") == 0 ? AFTER : atoi(text);
}

static void read_fault(const char *text)
{
	const char *colon = strrchr(text, ':');

	if (!colon || (size_t)(colon - text) >= sizeof(state.key))
		abort();
	memset(state.key, 0, sizeof(state.key));
	memcpy(state.key, text, (size_t)(colon - text));
	state.kill_before = strcmp(colon + 1, "before") == 0;
	state.fault = fault_of(colon + 1);
}

static void read_kinds(const char *text)
{
	struct kind *kind = state.kinds;
	char fault[16];
	int len;

	while (kind < state.kinds + KINDS_MAX &&
	       sscanf(text, " %23[^:]:%15s%n", kind->function, fault, &len) == 2) {
		kind->fault = fault_of(fault);
		kind++;
		text += len;
	}
	state.kind_count = (size_t)(kind - state.kinds);
	if (*text)
		abort();
}

static void map_each(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	state.each = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
	if (state.each == MAP_FAILED)
		abort();
	(void)close(fd);
}

__attribute__((constructor)) static void begin(void)
{
	const char *log = getenv("RNA_FAULTS_LOG"), *fail = getenv("RNA_FAULTS_FAIL");
	const char *each = getenv("RNA_FAULTS_EACH"), *with = getenv("RNA_FAULTS_WITH");

	inside = true;
	(void)dl_iterate_phdr(find_program, NULL);
	if (log) {
		int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

		state.log = fcntl(fd, F_DUPFD_CLOEXEC, 500); /* out of the way */
		(void)close(fd);
	}
	if (fail)
		read_fault(fail);
	if (with)
		read_kinds(with);
	if (each)
		map_each(each);
	state.under = getenv("RNA_FAULTS_UNDER");
	state.file = getenv("RNA_FAULTS_FILE");
	state.process = getpid();
	state.ready = true;
	inside = false;
}

/* Which descriptors are open? Those that the program has forgotten are among them. */
static void end(void)
{
	bool was_inside = inside;

	inside = true;
	for (int fd = 3; fd < 500 && state.ready && getpid() == state.process; fd++) {
		char link[64], target[PATH_MAX];
		ssize_t len;

		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		len = NEXT(readlink)(link, target, sizeof(target) - 1);
		if (len >= 0)
			say("left %d %.*s\n", fd, (int)len, target);
	}
	inside = was_inside;
}

__attribute__((destructor)) static void finish(void)
{
	end();
	state.ready = false;
}

/* -- Places ------------------------------------------------------------------------------------ */

struct place {
	uintptr_t frames[FRAMES_OURS + 1]; /* who called, then those of the program */
	int count;
	int skip;
	int looked_at;
};

static bool is_ours(uintptr_t address)
{
	return address >= state.program_start && address < state.program_end;
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *userdata)
{
	uintptr_t address = (uintptr_t)_Unwind_GetIP(context);
	struct place *place = userdata;

	if (place->skip-- > 0)
		return _URC_NO_REASON;
	if (place->count == 0 || is_ours(address))
		place->frames[place->count++] = address;
	return place->count == FRAMES_OURS + 1 || ++place->looked_at == FRAMES_MAX
		       ? _URC_END_OF_STACK
		       : _URC_NO_REASON;
}

/* The same in each run, wherever modules are loaded. */
static uintptr_t relative(uintptr_t address, const char **module)
{
	struct dl_find_object found;

	*module = "";
	if (is_ours(address))
		return address - state.program_start;
	if (_dl_find_object((void *)address, &found) != 0) /* NOLINT: an address is a number */
		return 0;
	*module = strrchr(found.dlfo_link_map->l_name, '/');
	*module = *module ? *module + 1 : found.dlfo_link_map->l_name;
	return address - found.dlfo_link_map->l_addr;
}

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ ((const unsigned char *)data)[i]) * 0x100000001b3;
	return hash;
}

/* Open addressing; threads may add at the same time. Where it is; *is_new: since now. */
static size_t note(uint64_t hash, bool *is_new)
{
	for (uint64_t i = hash;; i++) {
		uint64_t was = 0;

		*is_new = __atomic_compare_exchange_n(&state.seen[i % SEEN_SIZE], &was, hash, false,
						      __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		if (*is_new || was == hash)
			return i % SEEN_SIZE;
	}
}

static void say_place(const char *key, const char *function, const struct place *place)
{
	char text[512] = "";
	size_t len = 0;

	for (int i = 0; i < place->count && len < sizeof(text); i++) {
		const char *module;
		uintptr_t offset = relative(place->frames[i], &module);

		len += (size_t)snprintf(text + len, sizeof(text) - len, " %s+%#zx", module,
					(size_t)offset);
	}
	say("place %s %s%s\n", key, function, text);
}

/* Where the place is in state.seen, or -1 when it is none of ours. *is_new: since now. */
__attribute__((noinline)) static ssize_t find_key(const char *function, char *key, bool *is_new)
{
	struct place place = {.skip = 4}; /* to who called what is replaced */
	uint64_t hash = mix(0xcbf29ce484222325, function, strlen(function));
	size_t slot;

	(void)_Unwind_Backtrace(on_frame, &place);
	if (place.count == 0 || !is_ours(place.frames[place.count - 1]))
		return -1; /* a thread that a library begins or ends */
	for (int i = 0; i < place.count; i++) {
		const char *module;
		uintptr_t offset = relative(place.frames[i], &module);

		hash = mix(mix(hash, module, strlen(module)), &offset, sizeof(offset));
	}
	(void)snprintf(key, KEY_SIZE, "%016jx", (uintmax_t)hash);
	slot = note(hash | 1, is_new);
	if (*is_new)
		say_place(key, function, &place);
	return (ssize_t)slot;
}

/* -- Below a directory ------------------------------------------------------------------------- */

/* What a descriptor, or a path below it, stands for. */
static bool is_under(int fd, const char *path)
{
	char link[64], target[PATH_MAX];
	size_t size = strlen(state.under);
	ssize_t len;

	if (path && *path == '/')
		return strncmp(path, state.under, size) == 0;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = NEXT(readlink)(link, target, sizeof(target) - 1);
	return len >= (ssize_t)size && strncmp(target, state.under, size) == 0;
}

/* False: there is none now. */
static bool read_file(void)
{
	int fd = open(state.file, O_RDONLY | O_CLOEXEC);
	char text[KEY_SIZE + 16];
	ssize_t len = fd < 0 ? -1 : NEXT(read)(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		(void)close(fd);
	if (len <= 0)
		return false;
	text[len] = '\0';
	read_fault(text);
	return true;
}

static bool is_due_under(const char *function, int fd, const char *path)
{
	char key[KEY_SIZE];

	if (!is_under(fd, path))
		return false;
	if (state.file)
		return read_file() && strcmp(function, state.key) == 0;
	(void)snprintf(key, sizeof(key), "%lu",
		       __atomic_add_fetch(&state.calls, 1, __ATOMIC_RELAXED));
	say("place %s %s %s\n", key, function, path ? path : "");
	return strcmp(key, state.key) == 0;
}

/* -- Faults ------------------------------------------------------------------------------------ */

static uint64_t milliseconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* The next fault that this place has not had, or 0. */
static int next_kind(const char *function, size_t slot)
{
	unsigned had = __atomic_fetch_add(&state.had[slot], 1, __ATOMIC_RELAXED);

	for (size_t i = 0; i < state.kind_count; i++)
		if (strcmp(state.kinds[i].function, function) == 0 && had-- == 0)
			return state.kinds[i].fault;
	(void)__atomic_fetch_sub(&state.had[slot], 1, __ATOMIC_RELAXED); /* it had all */
	return 0;
}

/* Places of which one fails, and is said to. */
__attribute__((noinline)) static int due_each(const char *function)
{
	uint64_t now = milliseconds();
	char key[KEY_SIZE], what = *state.each;
	ssize_t slot;
	bool is_new;
	int fault;

	if (what == '-' || (what == 'f' && now < failed_at + PAUSE_MS))
		return 0;
	slot = find_key(function, key, &is_new);
	fault = slot < 0 || what != 'f' ? 0 : next_kind(function, (size_t)slot);
	if (!fault)
		return 0;
	failed_at = now;
	say("failed %s:%d %ju\n", key, fault, (uintmax_t)now);
	return fault;
}

__attribute__((noinline)) static bool due_call(const char *function, int fd, const char *path)
{
	char key[KEY_SIZE];
	bool is_new;

	if (state.under)
		return is_due_under(function, fd, path);
	return find_key(function, key, &is_new) >= 0 && is_new && strcmp(key, state.key) == 0 &&
	       !state.fired;
}

static int wait_for_end(void)
{
	while (access(state.file, F_OK) == 0)
		(void)usleep(10000);
	return 0;
}

/* What is to happen to this call: 0 nothing, an errno, or SHORT. fd, path: what it is about, or -1.
 */
__attribute__((noinline)) static int due(const char *function, int fd, const char *path)
{
	int fault = 0, before = errno;

	if (inside || !state.ready)
		return 0;
	inside = true;
	if (state.each) {
		fault = due_each(function);
	} else if (due_call(function, fd, path)) {
		state.fired = true;
		say("failed %s\n", state.key);
		if (state.kill_before)
			(void)kill(getpid(), SIGKILL);
		dies_after = state.fault == AFTER;
		fault = dies_after ? 0 : state.fault;
	}
	if (fault == HANG)
		fault = wait_for_end();
	inside = false;
	errno = before;
	return fault;
}

static void done(void)
{
	if (dies_after)
		(void)kill(getpid(), SIGKILL);
}

/* Begins a function that is replaced; returns from it when the fault is an errno. */
#define FAIL(function, fd, path, failure)                                                          \
	int fault = due(function, fd, path);                                                       \
                                                                                                   \
	if (fault > 0) {                                                                           \
		errno = fault;                                                                     \
		return failure;                                                                    \
	}

#define PASS(call)                                                                                 \
	({                                                                                         \
		bool was_inside = inside;                                                          \
		inside = true;                                                                     \
		__typeof__(call) result = call;                                                    \
		inside = was_inside;                                                               \
		done();                                                                            \
		result;                                                                            \
	})

/* Returns what the next of that name returns; what it calls itself does not count. */
#define REPLACE(type, function, parameters, arguments, fd, path, failure)                          \
	type function parameters                                                                   \
	{                                                                                          \
		FAIL(#function, fd, path, failure)                                                 \
		return PASS(NEXT(function) arguments);                                             \
	}

/* Not PASS(): a sanitizer's takes over when memory is asked for, and that is cheap anyway. */
#define REPLACE_MEMORY(type, function, parameters, arguments, failure)                             \
	type function parameters                                                                   \
	{                                                                                          \
		FAIL(#function, -1, NULL, failure)                                                 \
		return PASS(NEXT(function) arguments);                                             \
	}

/* -- Memory ------------------------------------------------------------------------------------ */

REPLACE_MEMORY(void *, malloc, (size_t size), (size), NULL)
REPLACE_MEMORY(void *, calloc, (size_t count, size_t size), (count, size), NULL)
REPLACE_MEMORY(void *, realloc, (void *memory, size_t size), (memory, size), NULL)
REPLACE_MEMORY(void *, reallocarray, (void *memory, size_t count, size_t size),
	       (memory, count, size), NULL)
REPLACE_MEMORY(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size), NULL)
REPLACE_MEMORY(int, posix_memalign, (void **ret, size_t alignment, size_t size),
	       (ret, alignment, size), ENOMEM)
REPLACE_MEMORY(char *, strdup, (const char *text), (text), NULL)
REPLACE_MEMORY(char *, strndup, (const char *text, size_t size), (text, size), NULL)

/* -- Files ------------------------------------------------------------------------------------- */

#define MODE(flags, last)                                                                          \
	({                                                                                         \
		mode_t mode = 0;                                                                   \
		if ((flags) & (O_CREAT | __O_TMPFILE)) {                                           \
			va_list args;                                                              \
			va_start(args, last);                                                      \
			mode = va_arg(args, mode_t);                                               \
			va_end(args);                                                              \
		}                                                                                  \
		mode;                                                                              \
	})

int open(const char *path, int flags, ...)
{
	mode_t given = MODE(flags, flags);

	FAIL("open", AT_FDCWD, path, -1)
	return PASS(NEXT(open)(path, flags, given));
}

int open64(const char *path, int flags, ...)
{
	mode_t given = MODE(flags, flags);

	FAIL("open", AT_FDCWD, path, -1)
	return PASS(NEXT(open64)(path, flags, given));
}

int openat(int directory, const char *path, int flags, ...)
{
	mode_t given = MODE(flags, flags);

	FAIL("openat", directory, path, -1)
	return PASS(NEXT(openat)(directory, path, flags, given));
}

int openat64(int directory, const char *path, int flags, ...)
{
	mode_t given = MODE(flags, flags);

	FAIL("openat", directory, path, -1)
	return PASS(NEXT(openat64)(directory, path, flags, given));
}

/* openat2() has no function of its own. */
long syscall(long number, ...)
{
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_openat2) {
		FAIL("openat2", (int)a[0], (const char *)a[1], -1)
	}
	return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

REPLACE(FILE *, fopen, (const char *path, const char *mode), (path, mode), AT_FDCWD, path, NULL)
REPLACE(FILE *, fopen64, (const char *path, const char *mode), (path, mode), AT_FDCWD, path, NULL)
REPLACE(DIR *, opendir, (const char *path), (path), AT_FDCWD, path, NULL)
REPLACE(DIR *, fdopendir, (int fd), (fd), fd, NULL, NULL)
REPLACE(struct dirent *, readdir, (DIR * dir), (dir), dirfd(dir), NULL, NULL)
REPLACE(struct dirent64 *, readdir64, (DIR * dir), (dir), dirfd(dir), NULL, NULL)
REPLACE(ssize_t, readlink, (const char *path, char *buffer, size_t size), (path, buffer, size),
	AT_FDCWD, path, -1)
REPLACE(ssize_t, readlinkat, (int fd, const char *path, char *buffer, size_t size),
	(fd, path, buffer, size), fd, path, -1)
REPLACE(ssize_t, pread, (int fd, void *buffer, size_t size, off_t offset),
	(fd, buffer, size, offset), fd, NULL, -1)
REPLACE(ssize_t, pread64, (int fd, void *buffer, size_t size, off64_t offset),
	(fd, buffer, size, offset), fd, NULL, -1)

ssize_t read(int fd, void *buffer, size_t size)
{
	FAIL("read", fd, NULL, -1)
	if (fault == SHORT && size > 1)
		size = 1;
	return PASS(NEXT(read)(fd, buffer, size));
}

ssize_t write(int fd, const void *buffer, size_t size)
{
	FAIL("write", fd, NULL, -1)
	if (fault == SHORT && size > 1)
		size = 1;
	return PASS(NEXT(write)(fd, buffer, size));
}

REPLACE(int, fsync, (int fd), (fd), fd, NULL, -1)
REPLACE(int, flock, (int fd, int operation), (fd, operation), fd, NULL, -1)
REPLACE(int, mkdir, (const char *path, mode_t mode), (path, mode), AT_FDCWD, path, -1)
REPLACE(int, unlinkat, (int fd, const char *path, int flags), (fd, path, flags), fd, path, -1)
REPLACE(int, renameat, (int from, const char *old, int to, const char *new), (from, old, to, new),
	to, new, -1)

/* -- Descriptors and threads ------------------------------------------------------------------- */

REPLACE(int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1, NULL, -1)
REPLACE(int, eventfd, (unsigned count, int flags), (count, flags), -1, NULL, -1)
REPLACE(int, timerfd_create, (int clock, int flags), (clock, flags), -1, NULL, -1)
REPLACE(int, epoll_create1, (int flags), (flags), -1, NULL, -1)
REPLACE(int, inotify_init1, (int flags), (flags), -1, NULL, -1)
REPLACE(int, pipe2, (int fds[2], int flags), (fds, flags), -1, NULL, -1)
REPLACE(int, pthread_create,
	(pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *),
	 void *argument),
	(thread, attributes, run, argument), -1, NULL, EAGAIN)

/* -- Netlink ----------------------------------------------------------------------------------- */

static bool is_netlink(int fd)
{
	int domain = -1, before = errno;
	socklen_t size = sizeof(domain);

	(void)getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
	errno = before;
	return domain == AF_NETLINK;
}

#define REPLACE_NETLINK(function, parameters, arguments)                                           \
	ssize_t function parameters                                                                \
	{                                                                                          \
		if (is_netlink(fd)) {                                                              \
			FAIL(#function, fd, NULL, -1)                                              \
		}                                                                                  \
		return NEXT(function) arguments;                                                   \
	}

REPLACE_NETLINK(sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
REPLACE_NETLINK(recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
REPLACE_NETLINK(sendto,
		(int fd, const void *data, size_t size, int flags, const struct sockaddr *address,
		 socklen_t len),
		(fd, data, size, flags, address, len))
REPLACE_NETLINK(recvfrom,
		(int fd, void *data, size_t size, int flags, struct sockaddr *address,
		 socklen_t *len),
		(fd, data, size, flags, address, len))

/* The agent may end without those that run at exit(). */
void _exit(int status)
{
	end();
	NEXT(_exit)(status);
	abort();
}
