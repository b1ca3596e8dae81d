// SPDX-License-Identifier: Apache-2.0
#include "logins.h"

#include <crypt.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>

#include "rna/base/strbuf.h"
#include "rna/base/thread.h"

#include "basic.h"

enum {
	REMEMBERED = 64, /* logins that were right */
	WAITING = 64,    /* passwords that wait for their turn */
	STACK = 512 * 1024,
};

/* One hash to compute. The thread has it while it works. */
struct work {
	atomic_uint owners; /* the logins and the thread; who comes last frees it */
	int done;           /* eventfd */
	atomic_bool right;
	char hash[RNA_BASIC_MAX];
	char password[RNA_BASIC_MAX];
	struct crypt_data data;
};

/* A login that waits. */
struct job {
	struct job *next;
	struct rna_login_proof digest;
	struct rna_login_proof *proof;
	struct rna_address address;
	void *who;
	bool known; /* there is such a user */
	char hash[RNA_BASIC_MAX];
	char password[RNA_BASIC_MAX];
};

struct rna_logins {
	unsigned char key[RNA_SECRET_DIGEST]; /* of digests: they are worth nothing elsewhere */
	struct rna_tries tries;
	struct rna_login_proof remembered[REMEMBERED];
	size_t newest;
	struct job *jobs; /* the first one is worked on */
	size_t job_count;
	struct work *work; /* NULL: idle */
	int done;          /* eventfd, a duplicate of which each thread gets */
	uint64_t counts[RNA_LOGIN_COUNT];
};

/* -- The thread -------------------------------------------------------------------------------- */

static void drop_work(struct work *work)
{
	if (atomic_fetch_sub(&work->owners, 1) > 1)
		return;
	(void)close(work->done);
	explicit_bzero(work, sizeof(*work));
	free(work);
}

static bool same_text(const char *a, const char *b)
{
	size_t len = strlen(a);

	return len == strlen(b) && rna_secret_same(a, b, len);
}

static void *compute(void *argument)
{
	struct work *work = argument;
	/* not crypt_r(), which sanitizers put a function of theirs in front of that calls nothing
	 */
	const char *hash = crypt_rn(work->password, work->hash, &work->data, sizeof(work->data));

	atomic_store(&work->right, hash && same_text(hash, work->hash));
	(void)eventfd_write(work->done, 1); /* the counter is nowhere near its end */
	drop_work(work);
	return NULL;
}

static int start_work(struct rna_logins *logins, const struct job *job)
{
	struct work *work = calloc(1, sizeof(*work));
	pthread_t thread;

	if (!work)
		return -ENOMEM;
	atomic_init(&work->owners, 2);
	memcpy(work->hash, job->hash, sizeof(work->hash));
	memcpy(work->password, job->password, sizeof(work->password));
	work->done = fcntl(logins->done, F_DUPFD_CLOEXEC, 0);
	if (work->done < 0 || rna_thread_start(&thread, STACK, "rna-login", compute, work) < 0) {
		rna_close_p(&work->done);
		explicit_bzero(work, sizeof(*work));
		free(work);
		return -EAGAIN;
	}
	(void)pthread_detach(thread);
	logins->work = work;
	return 0;
}

/* -- What is remembered ------------------------------------------------------------------------ */

/* user, hash and password are one text each: a hash that changes makes all of it another one. */
static int make_digest(const struct rna_logins *logins, const struct rna_basic *basic,
		       const char *hash, struct rna_login_proof *ret)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int status;

	rna_strbuf_add(&text, basic->user, strlen(basic->user) + 1);
	rna_strbuf_add(&text, hash, strlen(hash) + 1);
	rna_strbuf_add(&text, basic->password, strlen(basic->password) + 1);
	if (!rna_strbuf_ok(&text))
		return -ENOMEM;
	status = rna_secret_digest(logins->key, sizeof(logins->key), text.data, text.len,
				   ret->digest);
	explicit_bzero(text.data, text.len);
	return status;
}

static bool same_proof(const struct rna_login_proof *a, const struct rna_login_proof *b)
{
	return memcmp(a, b, sizeof(*a)) == 0; /* who does not have the key learns nothing by it */
}

static bool is_remembered(const struct rna_logins *logins, const struct rna_login_proof *digest)
{
	for (size_t i = 0; i < REMEMBERED; i++)
		if (same_proof(&logins->remembered[i], digest))
			return true;
	return false;
}

static void keep(struct rna_logins *logins, const struct rna_login_proof *digest)
{
	if (is_remembered(logins, digest))
		return;
	logins->newest = (logins->newest + 1) % REMEMBERED;
	logins->remembered[logins->newest] = *digest;
}

/* -- Asking ------------------------------------------------------------------------------------ */

/* For an unknown user, as much work as for the most expensive hash. */
static const char *hash_of(const struct rna_web_pairs *users, const char *name, bool *ret_known)
{
	const char *dearest = "";
	int most = 0;

	for (size_t i = 0; i < users->count; i++) {
		int cost = rna_web_hash_cost(users->items[i].value);

		if (strcmp(users->items[i].name, name) == 0) {
			*ret_known = true;
			return users->items[i].value;
		}
		if (cost > most) {
			most = cost;
			dearest = users->items[i].value;
		}
	}
	*ret_known = false;
	return dearest;
}

static struct job *free_job(struct job *job)
{
	if (job)
		explicit_bzero(job, sizeof(*job));
	free(job);
	return NULL;
}

static enum rna_login enqueue(struct rna_logins *logins, struct job *job)
{
	struct job **end = &logins->jobs;

	while (*end)
		end = &(*end)->next;
	*end = job;
	logins->job_count++;
	if (logins->work || start_work(logins, logins->jobs) >= 0)
		return RNA_LOGIN_PENDING;
	*end = free_job(job); /* it is the only one */
	logins->job_count--;
	return RNA_LOGIN_LIMITED;
}

/* A password that is not cached yet. */
static enum rna_login ask_thread(struct rna_logins *logins, const struct rna_login_request *request,
				 const struct rna_basic *basic,
				 const struct rna_login_proof *digest)
{
	struct job *job;

	if (logins->job_count >= WAITING)
		return RNA_LOGIN_LIMITED;
	job = calloc(1, sizeof(*job));
	if (!job)
		return RNA_LOGIN_LIMITED;
	job->digest = *digest;
	job->proof = request->proof;
	job->address = request->address;
	job->who = request->who;
	memcpy(job->password, basic->password, sizeof(job->password));
	(void)stpncpy(job->hash, hash_of(request->users, basic->user, &job->known),
		      sizeof(job->hash) - 1);
	return enqueue(logins, job);
}

static enum rna_login ask(struct rna_logins *logins, const struct rna_login_request *request,
			  const struct rna_basic *basic, rna_usec now, rna_usec *ret_wait)
{
	struct rna_login_proof digest;
	const char *hash;
	bool known;

	hash = hash_of(request->users, basic->user, &known);
	if (make_digest(logins, basic, hash, &digest) < 0)
		return RNA_LOGIN_LIMITED;
	if (known && same_proof(request->proof, &digest))
		return RNA_LOGIN_OK;
	if (!rna_tries_take(&logins->tries, &request->address, now, ret_wait))
		return RNA_LOGIN_LIMITED;
	if (!known || !is_remembered(logins, &digest))
		return ask_thread(logins, request, basic, &digest);
	rna_tries_give(&logins->tries, &request->address);
	*request->proof = digest;
	return RNA_LOGIN_OK;
}

enum rna_login rna_logins_ask(struct rna_logins *logins, const struct rna_login_request *request,
			      rna_usec now, rna_usec *ret_wait)
{
	struct rna_basic basic;
	enum rna_login ret = RNA_LOGIN_REFUSED;

	*ret_wait = RNA_USEC_PER_SEC; /* where there is another reason than too many tries */
	if (rna_basic_read(request->authorization, &basic) < 0)
		return RNA_LOGIN_REFUSED;
	ret = ask(logins, request, &basic, now, ret_wait);
	explicit_bzero(&basic, sizeof(basic));
	if (ret < RNA_LOGIN_COUNT)
		logins->counts[ret]++;
	return ret;
}

/* -- Answers ----------------------------------------------------------------------------------- */

/* The first job is over. */
static enum rna_login finish(struct rna_logins *logins, enum rna_login ret, void **ret_who)
{
	struct job *job = logins->jobs;

	if (ret == RNA_LOGIN_OK && !job->known)
		ret = RNA_LOGIN_REFUSED;
	if (ret == RNA_LOGIN_OK) {
		keep(logins, &job->digest);
		rna_tries_give(&logins->tries, &job->address);
		*job->proof = job->digest;
	}
	*ret_who = job->who;
	logins->counts[ret]++;
	logins->jobs = job->next;
	logins->job_count--;
	(void)free_job(job);
	return ret;
}

/* Another request may have verified the same password in the meantime. */
static bool next_is_known(const struct rna_logins *logins)
{
	return logins->jobs->known && is_remembered(logins, &logins->jobs->digest);
}

bool rna_logins_next(struct rna_logins *logins, void **ret_who, enum rna_login *ret)
{
	struct work *work = logins->work;
	enum rna_login answer = RNA_LOGIN_REFUSED;
	eventfd_t count;

	if (work) {
		if (eventfd_read(logins->done, &count) < 0)
			return false;
		if (atomic_load(&work->right))
			answer = RNA_LOGIN_OK;
		logins->work = NULL;
		drop_work(work);
	} else {
		if (!logins->jobs)
			return false;
		if (next_is_known(logins))
			answer = RNA_LOGIN_OK;
		else if (start_work(logins, logins->jobs) >= 0)
			return false;
		else
			answer = RNA_LOGIN_LIMITED; /* no thread available: unknown */
	}
	*ret = finish(logins, answer, ret_who);
	return true;
}

int rna_logins_fd(const struct rna_logins *logins)
{
	return logins->done;
}

const uint64_t *rna_logins_counts(const struct rna_logins *logins)
{
	return logins->counts;
}

struct rna_logins *rna_logins_new(void)
{
	RNA_CLEANUP(rna_logins_free_p) struct rna_logins *logins = calloc(1, sizeof(*logins));

	if (!logins)
		return NULL;
	logins->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (logins->done < 0 ||
	    getrandom(logins->key, sizeof(logins->key), 0) != (ssize_t)sizeof(logins->key))
		return NULL;
	return RNA_TAKE(logins);
}

struct rna_logins *rna_logins_free(struct rna_logins *logins)
{
	if (!logins)
		return NULL;
	while (logins->jobs) {
		struct job *job = logins->jobs;

		logins->jobs = job->next;
		(void)free_job(job);
	}
	if (logins->work)
		drop_work(logins->work);
	rna_close_p(&logins->done);
	explicit_bzero(logins, sizeof(*logins));
	free(logins);
	return NULL;
}
