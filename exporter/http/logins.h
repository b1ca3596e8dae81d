/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logins: is the password right? bcrypt takes a tenth of a second on purpose, so that it is
 * computed by a thread, one password at a time, and what was right is remembered: a scrape pays for
 * it once.
 *
 * Nothing tells from outside which users there are: for an unknown one a hash is computed as well,
 * and whatever costs the hashes of users have, a wrong password takes the time of the highest.
 *
 * Who guesses is slowed down. What is remembered is asked first, and a connection that
 * has logged in goes on without being counted: who guesses from the same address, behind a proxy
 * for example, does not end the scrapes of a Prometheus. Passwords wait in a queue in which each
 * address has its turn; when it is full, the address with most of them loses one.
 *
 * Thread: the loop's.
 */
#pragma once

#include "rna/base/secret.h"
#include "rna/web.h"

#include "connections.h"

/* -- Tries ------------------------------------------------------------------------------------- */

/*
 * How often a client may try to log in. A client is an address and a user name: behind a proxy all
 * clients have one address, and one that tries a wrong name must not lock the others out.
 */

/* A token bucket: so many things at once, then one each interval. */
struct rna_bucket {
	rna_usec full; /* 0: it is */
};

struct rna_rate_limit {
	rna_usec interval;
	unsigned burst; /* 1 or more */
};

/* Takes one out. false: there is none, and *ret_wait says in how long there will be. */
bool rna_bucket_take(struct rna_bucket *bucket, const struct rna_rate_limit *limit, rna_usec now,
		     rna_usec *ret_wait);
/* Puts one back. */
void rna_bucket_give(struct rna_bucket *bucket, const struct rna_rate_limit *limit);

enum {
	RNA_TRIES_KEPT = 1024, /* entries; those that are allowed most give way */
	RNA_TRIES_USER = 16,   /* bytes */
};

struct rna_client {
	struct rna_address address;
	unsigned char user[RNA_TRIES_USER]; /* a digest of the name */
};

enum rna_try {
	RNA_TRY_LOOK, /* compared with what is remembered: 100 times, then once a second */
	RNA_TRY_HASH, /* hashed: 10 times, then once in ten seconds; of an address 100, as above */
};

struct rna_tries {
	struct {
		struct rna_client client; /* the address alone: without a user */
		enum rna_try kind;
		struct rna_bucket bucket;
	} entries[RNA_TRIES_KEPT];
};

/* One try. false: too many, and *ret_wait says for how long. */
bool rna_tries_take(struct rna_tries *tries, const struct rna_client *client, enum rna_try kind,
		    rna_usec now, rna_usec *ret_wait);
/* It does not count: the password was right, or was not compared. */
void rna_tries_give(struct rna_tries *tries, const struct rna_client *client, enum rna_try kind);

/* -- Logins ------------------------------------------------------------------------------------ */

/* What a connection has shown; zeroed at its start. */
struct rna_login_proof {
	unsigned char digest[RNA_SECRET_DIGEST];
};

struct rna_login_request {
	const struct rna_web_pairs *users;
	const char *authorization; /* the header; NULL: there is none */
	struct rna_address address;
	struct rna_login_proof *proof; /* of the connection; lives until there is an answer */
	void *who;                     /* comes back with the answer */
};

struct rna_logins;

struct rna_logins *rna_logins_new(void); /* NULL: no memory, or no descriptor */
/* A thread that still computes goes on, and cleans up behind itself. Accepts and returns NULL. */
struct rna_logins *rna_logins_free(struct rna_logins *logins);
RNA_DEFINE_CLEANUP(struct rna_logins, rna_logins_free)

/* Readable when rna_logins_next() has something. */
int rna_logins_fd(const struct rna_logins *logins);

/* *ret_wait: with LIMITED, in how long there can be another try. */
enum rna_login rna_logins_ask(struct rna_logins *logins, const struct rna_login_request *request,
			      rna_usec now, rna_usec *ret_wait);

/* The next answer to one that was pending, which is PENDING no more; false: there is none now. */
bool rna_logins_next(struct rna_logins *logins, void **ret_who, enum rna_login *ret);

/* How many there were of each, RNA_LOGIN_COUNT of them. */
const uint64_t *rna_logins_counts(const struct rna_logins *logins);

/* -- The header Authorization with a name and a password in it (RFC 7617) ---------------------- */

enum { RNA_BASIC_MAX = 256 }; /* bytes of a name, and of a password, with the end */

struct rna_basic {
	char user[RNA_BASIC_MAX];
	char password[RNA_BASIC_MAX];
};

/* 0; -EINVAL when header is something else, NULL for example; -ENAMETOOLONG. */
int rna_basic_read(const char *header, struct rna_basic *ret);
