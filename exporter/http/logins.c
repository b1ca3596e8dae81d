// SPDX-License-Identifier: Apache-2.0
#include "logins.h"

#include <crypt.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "rna/base/strbuf.h"
#include "rna/base/worker.h"

enum {
	REMEMBERED = 64, /* logins that were right */
	WAITING = 64,    /* passwords that wait for their turn */
	STACK = 512 * 1024,
	COST_AT = 4, /* of its two digits in a hash: "$2b$10$" */
	PAIR_MAX = 2 * RNA_BASIC_MAX,
};

#define WHITE_SPACE " \t\n\v\f\r" /* GnuTLS ignores it; no client sends it */

/* A login that waits, or whose hash the worker computes. */
struct login {
	struct rna_work work; /* of the worker */
	struct login *next;
	struct rna_login_proof digest;
	struct rna_login_proof *proof;
	struct rna_client client;
	void *who;
	uint64_t turn; /* lower ones first */
	bool known;    /* there is such a user */
	int most;      /* the highest cost of all users */
	char hash[RNA_BASIC_MAX];
	char password[RNA_BASIC_MAX];
	enum rna_login answer;
};

struct rna_logins {
	unsigned char key[RNA_SECRET_DIGEST]; /* of digests: they are worth nothing elsewhere */
	struct rna_tries tries;
	struct rna_login_proof remembered[REMEMBERED];
	size_t newest;
	struct rna_worker *worker; /* returns logins that have their answer */
	bool busy;                 /* it computes one */
	struct login *waiting;     /* as they came */
	size_t waiting_count;
	uint64_t turn; /* of the login that was given to the worker last */
	uint64_t counts[RNA_LOGIN_COUNT];
};

/* -- Tries ------------------------------------------------------------------------------------- */

/* By kind. */
static const struct rna_rate_limit limits[] = {
	[RNA_TRY_LOOK] = {RNA_USEC_PER_SEC, 100},
	[RNA_TRY_HASH] = {10 * RNA_USEC_PER_SEC, 10},
};

/*
 * Of hashes, for all names from an address: else new names would keep a CPU busy. What is
 * remembered stays possible.
 */
static const struct rna_rate_limit all_names = {RNA_USEC_PER_SEC, 100};

bool rna_bucket_take(struct rna_bucket *bucket, const struct rna_rate_limit *limit, rna_usec now,
		     rna_usec *ret_wait)
{
	rna_usec full = (bucket->full > now ? bucket->full : now) + limit->interval;

	*ret_wait = rna_usec_since(now + limit->burst * limit->interval, full);
	if (*ret_wait > 0)
		return false;
	bucket->full = full;
	return true;
}

void rna_bucket_give(struct rna_bucket *bucket, const struct rna_rate_limit *limit)
{
	bucket->full = rna_usec_since(limit->interval, bucket->full);
}

static struct rna_bucket *find_bucket(struct rna_tries *tries, const struct rna_client *client,
				      enum rna_try kind)
{
	for (size_t i = 0; i < RNA_TRIES_KEPT; i++)
		if (tries->entries[i].kind == kind &&
		    memcmp(&tries->entries[i].client, client, sizeof(*client)) == 0)
			return &tries->entries[i].bucket;
	return NULL;
}

/* In the place of the one that has the most left. */
static struct rna_bucket *add_bucket(struct rna_tries *tries, const struct rna_client *client,
				     enum rna_try kind)
{
	size_t best = 0;

	for (size_t i = 1; i < RNA_TRIES_KEPT; i++)
		if (tries->entries[i].bucket.full < tries->entries[best].bucket.full)
			best = i;
	tries->entries[best].client = *client;
	tries->entries[best].kind = kind;
	tries->entries[best].bucket = (struct rna_bucket){0};
	return &tries->entries[best].bucket;
}

static bool take_one(struct rna_tries *tries, const struct rna_client *client, enum rna_try kind,
		     const struct rna_rate_limit *limit, rna_usec now, rna_usec *ret_wait)
{
	struct rna_bucket *bucket = find_bucket(tries, client, kind);

	return rna_bucket_take(bucket ? bucket : add_bucket(tries, client, kind), limit, now,
			       ret_wait);
}

static void give_back(struct rna_tries *tries, const struct rna_client *client, enum rna_try kind,
		      const struct rna_rate_limit *limit)
{
	struct rna_bucket *bucket = find_bucket(tries, client, kind);

	if (bucket)
		rna_bucket_give(bucket, limit);
}

bool rna_tries_take(struct rna_tries *tries, const struct rna_client *client, enum rna_try kind,
		    rna_usec now, rna_usec *ret_wait)
{
	const struct rna_client all = {.address = client->address};

	if (!take_one(tries, client, kind, &limits[kind], now, ret_wait))
		return false;
	if (kind != RNA_TRY_HASH || take_one(tries, &all, kind, &all_names, now, ret_wait))
		return true;
	give_back(tries, client, kind, &limits[kind]);
	return false;
}

void rna_tries_give(struct rna_tries *tries, const struct rna_client *client, enum rna_try kind)
{
	const struct rna_client all = {.address = client->address};

	give_back(tries, client, kind, &limits[kind]);
	if (kind == RNA_TRY_HASH)
		give_back(tries, &all, kind, &all_names);
}

/* -- The header -------------------------------------------------------------------------------- */

static int copy_part(const char *from, size_t len, char ret[RNA_BASIC_MAX])
{
	if (len >= RNA_BASIC_MAX)
		return -ENAMETOOLONG;
	memcpy(ret, from, len);
	ret[len] = '\0';
	return 0;
}

static int read_pair(const char *header, char text[PAIR_MAX], struct rna_basic *ret)
{
	static const char scheme[] = "Basic ";
	const char *colon;
	int status;

	if (!header || strncasecmp(header, scheme, sizeof(scheme) - 1) != 0)
		return -EINVAL;
	header += sizeof(scheme) - 1;
	if (strpbrk(header, WHITE_SPACE))
		return -EINVAL;
	status = rna_secret_decode(header, text, PAIR_MAX);
	if (status < 0)
		return status;
	colon = strchr(text, ':');
	if (!colon)
		return -EINVAL;
	status = copy_part(text, (size_t)(colon - text), ret->user);
	return status < 0 ? status : copy_part(colon + 1, strlen(colon + 1), ret->password);
}

int rna_basic_read(const char *header, struct rna_basic *ret)
{
	char text[PAIR_MAX];
	int status = read_pair(header, text, ret);

	explicit_bzero(text, sizeof(text));
	return status;
}

/* -- The thread -------------------------------------------------------------------------------- */

/* "$2y$10$" and 53 characters. $2x$ is for hashes of a program that made them wrongly. */
int rna_web_hash_cost(const char *hash)
{
	static const char alphabet[] =
		"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	enum { HEAD = 7, ALL = 60, COST_LEAST = 4, COST_MOST = 31 };
	int cost;

	if (strlen(hash) != ALL || strncmp(hash, "$2", 2) != 0 || !strchr("aby", hash[2]) ||
	    hash[3] != '$' || hash[6] != '$' || strspn(hash + HEAD, alphabet) != ALL - HEAD)
		return -EINVAL;
	if (hash[4] < '0' || hash[4] > '3' || hash[5] < '0' || hash[5] > '9')
		return -EINVAL;
	cost = 10 * (hash[4] - '0') + hash[5] - '0';
	return cost >= COST_LEAST && cost <= COST_MOST ? cost : -EINVAL;
}

static bool same_text(const char *a, const char *b)
{
	size_t len = strlen(a);

	return len == strlen(b) && rna_secret_same(a, b, len);
}

static bool is_right(const struct login *login, struct crypt_data *data)
{
	/* not crypt_r(), which sanitizers put a function of theirs in front of that calls nothing
	 */
	const char *hash = crypt_rn(login->password, login->hash, data, sizeof(*data));

	return hash && same_text(hash, login->hash);
}

/*
 * A wrong password takes as long as one for the highest cost, whosever it is: cost is a power of
 * two, so that hashes of cost c, c + 1, ... and most - 1 after one of cost c make it 2^most.
 */
static void pad(struct login *login, struct crypt_data *data)
{
	for (int cost = rna_web_hash_cost(login->hash); cost > 0 && cost < login->most; cost++) {
		login->hash[COST_AT] = (char)('0' + cost / 10);
		login->hash[COST_AT + 1] = (char)('0' + cost % 10);
		(void)is_right(login, data);
	}
}

static void compute(struct rna_work *work, void *userdata)
{
	struct login *login = (struct login *)work;
	struct crypt_data data = {0};

	(void)userdata;
	if (is_right(login, &data)) {
		login->answer = RNA_LOGIN_OK;
	} else {
		login->answer = RNA_LOGIN_REFUSED;
		pad(login, &data);
	}
	explicit_bzero(&data, sizeof(data));
}

static void free_login(struct login *login)
{
	explicit_bzero(login, sizeof(*login));
	free(login);
}

static void drop_login(struct rna_work *work)
{
	free_login((struct login *)work);
}

static int start_work(struct rna_logins *logins, struct login *login)
{
	int status = rna_worker_give(logins->worker, &login->work);

	if (status < 0)
		return status;
	logins->busy = true;
	logins->turn = login->turn;
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
	return RNA_ANY(i, REMEMBERED, same_proof(&logins->remembered[i], digest));
}

static void keep(struct rna_logins *logins, const struct rna_login_proof *digest)
{
	if (is_remembered(logins, digest))
		return;
	logins->newest = (logins->newest + 1) % REMEMBERED;
	logins->remembered[logins->newest] = *digest;
}

/* -- The queue --------------------------------------------------------------------------------- */

static struct login *take_first(struct login **list)
{
	struct login *login = *list;

	if (login)
		*list = login->next;
	return login;
}

/*
 * Each address has one login in each turn: however many one has, the first of another comes
 * after one of each.
 */
static uint64_t find_turn(const struct rna_logins *logins, const struct login *login)
{
	uint64_t last = logins->turn;

	for (const struct login *other = logins->waiting; other; other = other->next)
		if (rna_address_is_same(&other->client.address, &login->client.address) &&
		    other->turn > last)
			last = other->turn;
	return last + 1;
}

/* Where the next login is; NULL: none waits. */
static struct login **find_next(struct rna_logins *logins)
{
	struct login **next = logins->waiting ? &logins->waiting : NULL;

	for (struct login **at = next; at && *at; at = &(*at)->next)
		if ((*at)->turn < (*next)->turn)
			next = at;
	return next;
}

/* Where the login of the latest turn is. */
static struct login **find_last(struct rna_logins *logins)
{
	struct login **last = &logins->waiting;

	for (struct login **at = last; *at; at = &(*at)->next)
		if ((*at)->turn >= (*last)->turn)
			last = at;
	return last;
}

/* The address with most logins loses its last one to another. False: it is the one that asks. */
static bool make_room(struct rna_logins *logins, uint64_t turn)
{
	struct login **last, *login;

	if (logins->waiting_count < WAITING)
		return true;
	last = find_last(logins);
	if ((*last)->turn <= turn)
		return false;
	login = take_first(last);
	logins->waiting_count--;
	login->answer = RNA_LOGIN_LIMITED;
	rna_worker_return(logins->worker, &login->work);
	return true;
}

static bool enqueue(struct rna_logins *logins, struct login *login)
{
	struct login **end = &logins->waiting;

	login->turn = find_turn(logins, login);
	if (!logins->busy)
		return start_work(logins, login) >= 0;
	if (!make_room(logins, login->turn))
		return false;
	while (*end)
		end = &(*end)->next;
	*end = login;
	logins->waiting_count++;
	return true;
}

/* -- Asking ------------------------------------------------------------------------------------ */

/* What a password is compared with. */
struct subject {
	const char *hash; /* of an unknown user: the most expensive one */
	bool known;
	int most; /* the highest cost */
	struct rna_login_proof digest;
	struct rna_client client;
};

static void find_user(const struct rna_web_pairs *users, const char *name, struct subject *ret)
{
	const char *dearest = "", *own = NULL;

	for (size_t i = 0; i < users->count; i++) {
		int cost = rna_web_hash_cost(users->items[i].value);

		if (strcmp(users->items[i].name, name) == 0)
			own = users->items[i].value;
		if (cost > ret->most) {
			ret->most = cost;
			dearest = users->items[i].value;
		}
	}
	ret->known = own;
	ret->hash = own ? own : dearest;
}

/* The name as a digest: a table of clients must not need memory for names that others choose. */
static int find_client(const struct rna_logins *logins, const struct rna_login_request *request,
		       const char *name, struct rna_client *ret)
{
	unsigned char digest[RNA_SECRET_DIGEST];
	int status =
		rna_secret_digest(logins->key, sizeof(logins->key), name, strlen(name) + 1, digest);

	ret->address = request->address;
	memcpy(ret->user, digest, sizeof(ret->user));
	return status;
}

static int find_subject(const struct rna_logins *logins, const struct rna_login_request *request,
			const struct rna_basic *basic, struct subject *ret)
{
	int status;

	*ret = (struct subject){0};
	find_user(request->users, basic->user, ret);
	status = find_client(logins, request, basic->user, &ret->client);
	return status < 0 ? status : make_digest(logins, basic, ret->hash, &ret->digest);
}

/* A password that is not remembered. */
static bool ask_thread(struct rna_logins *logins, const struct rna_login_request *request,
		       const struct rna_basic *basic, const struct subject *subject)
{
	struct login *login = calloc(1, sizeof(*login));

	if (!login)
		return false;
	login->digest = subject->digest;
	login->proof = request->proof;
	login->client = subject->client;
	login->who = request->who;
	login->known = subject->known;
	login->most = subject->most;
	memcpy(login->password, basic->password, sizeof(login->password));
	(void)stpncpy(login->hash, subject->hash, sizeof(login->hash) - 1);
	if (enqueue(logins, login))
		return true;
	free_login(login);
	return false;
}

/*
 * What is remembered is asked before tries are counted, so that no number of wrong passwords from a
 * shared address locks out who was let in before. It answers at once, also to who guesses, and so
 * it has a pace of its own.
 */
static enum rna_login ask(struct rna_logins *logins, const struct rna_login_request *request,
			  const struct rna_basic *basic, rna_usec now, rna_usec *ret_wait)
{
	struct subject subject;
	const struct rna_client *client = &subject.client;

	if (find_subject(logins, request, basic, &subject) < 0)
		return RNA_LOGIN_LIMITED;
	if (subject.known && same_proof(request->proof, &subject.digest))
		return RNA_LOGIN_OK;
	if (!rna_tries_take(&logins->tries, client, RNA_TRY_LOOK, now, ret_wait))
		return RNA_LOGIN_LIMITED;
	if (subject.known && is_remembered(logins, &subject.digest)) {
		rna_tries_give(&logins->tries, client, RNA_TRY_LOOK);
		*request->proof = subject.digest;
		return RNA_LOGIN_OK;
	}
	if (!rna_tries_take(&logins->tries, client, RNA_TRY_HASH, now, ret_wait))
		return RNA_LOGIN_LIMITED;
	if (ask_thread(logins, request, basic, &subject))
		return RNA_LOGIN_PENDING;
	rna_tries_give(&logins->tries, client, RNA_TRY_HASH);
	*ret_wait = RNA_USEC_PER_SEC;
	return RNA_LOGIN_LIMITED;
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

/* Takes over login. */
static void finish(struct rna_logins *logins, struct login *login, void **ret_who,
		   enum rna_login *ret)
{
	enum rna_login answer = login->answer;

	if (answer == RNA_LOGIN_OK && !login->known)
		answer = RNA_LOGIN_REFUSED;
	if (answer == RNA_LOGIN_OK) {
		keep(logins, &login->digest);
		rna_tries_give(&logins->tries, &login->client, RNA_TRY_LOOK);
		*login->proof = login->digest;
	}
	if (answer != RNA_LOGIN_REFUSED)
		rna_tries_give(&logins->tries, &login->client, RNA_TRY_HASH);
	*ret_who = login->who;
	*ret = answer;
	logins->counts[answer]++;
	free_login(login);
}

/* Another request may have verified the same password in the meantime. */
static bool is_known(const struct rna_logins *logins, const struct login *login)
{
	return login->known && is_remembered(logins, &login->digest);
}

/* One that came back. False: none did. */
static bool take_answer(struct rna_logins *logins, void **ret_who, enum rna_login *ret)
{
	struct login *login = (struct login *)rna_worker_take(logins->worker);

	if (!login)
		return false;
	logins->busy &= login->answer == RNA_LOGIN_LIMITED; /* these gave way to others */
	finish(logins, login, ret_who, ret);
	return true;
}

bool rna_logins_next(struct rna_logins *logins, void **ret_who, enum rna_login *ret)
{
	struct login **next, *login;

	if (take_answer(logins, ret_who, ret))
		return true;
	next = logins->busy ? NULL : find_next(logins);
	if (!next)
		return false;
	login = take_first(next);
	logins->waiting_count--;
	if (is_known(logins, login))
		login->answer = RNA_LOGIN_OK;
	else if (start_work(logins, login) == 0)
		return false;
	else
		login->answer = RNA_LOGIN_LIMITED; /* no thread available: unknown */
	finish(logins, login, ret_who, ret);
	return true;
}

int rna_logins_fd(const struct rna_logins *logins)
{
	return rna_worker_fd(logins->worker);
}

const uint64_t *rna_logins_counts(const struct rna_logins *logins)
{
	return logins->counts;
}

struct rna_logins *rna_logins_new(void)
{
	RNA_CLEANUP(rna_logins_free_p) struct rna_logins *logins = calloc(1, sizeof(*logins));
	const struct rna_worker_options options = {
		.name = "rna-login",
		.stack = STACK,
		.perform = compute,
		.drop = drop_login,
	};

	if (!logins || rna_worker_new(&options, &logins->worker) < 0 ||
	    getrandom(logins->key, sizeof(logins->key), 0) != (ssize_t)sizeof(logins->key))
		return NULL;
	return RNA_TAKE(logins);
}

struct rna_logins *rna_logins_free(struct rna_logins *logins)
{
	if (!logins)
		return NULL;
	while (logins->waiting)
		free_login(take_first(&logins->waiting));
	(void)rna_worker_stop(logins->worker);
	explicit_bzero(logins, sizeof(*logins));
	free(logins);
	return NULL;
}
