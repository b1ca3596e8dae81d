// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#include <errno.h>
#include <time.h>

#include "rna/base/log.h"

/* Between attempts to serve HTTP: the first pause, doubled each time, and the longest one. */
#define RETRY_FIRST   RNA_USEC_PER_SEC
#define RETRY_LONGEST (60 * RNA_USEC_PER_SEC)

static int start_http(struct rna_server *server, const struct rna_settings *settings,
		      struct rna_http **ret, struct rna_error *error)
{
	const struct rna_http_options options = {
		.listen = (const char *const *)settings->http_listen,
		.sockets = server->passed.sockets,
		.socket_count = server->passed.count,
		.max_connections = settings->http_max_connections,
		.max_header_bytes = settings->http_max_header_bytes,
		.idle_timeout = settings->http_idle_timeout,
		.request_timeout = settings->http_request_timeout,
		.reply_timeout = settings->http_reply_timeout,
		.max_old_bytes = settings->http_max_old_bytes,
	};

	return rna_http_start(server->event, &options, &server->source, ret, error);
}

static int open_web(const struct rna_settings *settings, struct rna_web_use **ret,
		    struct rna_error *error)
{
	const char *path = settings->http_web_config_file;
	int status;

	if (!path[0])
		return 0;
	status = rna_web_use_open(path, rna_clock_now().realtime, ret, error);
	return status < 0 ? rna_error_prefix(error, "http.web_config_file") : 0;
}

/* Logs each reason once. */
static void say_down(struct rna_server *server, const struct rna_error *why)
{
	if (strcmp(server->told, why->text) == 0)
		return;
	rna_log_error("HTTP server is down, retrying: %s", why->text);
	memcpy(server->told, why->text, sizeof(server->told));
}

static int retry_later(struct rna_server *server);

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct rna_server *server = userdata;
	struct rna_error why;

	(void)source;
	(void)usec;
	if (start_http(server, server->settings, &server->http, &why) < 0) {
		say_down(server, &why);
		return retry_later(server);
	}
	rna_log_notice("HTTP server is up");
	return 0;
}

static int retry_after(struct rna_server *server, rna_usec pause)
{
	server->retry = sd_event_source_disable_unref(server->retry);
	return sd_event_add_time_relative(server->event, &server->retry, CLOCK_MONOTONIC, pause, 0,
					  on_retry, server);
}

static int retry_later(struct rna_server *server)
{
	rna_usec pause = server->pause;

	server->pause = pause < RETRY_LONGEST / 2 ? 2 * pause : RETRY_LONGEST;
	return retry_after(server, pause);
}

static int go_without_http(struct rna_server *server, const struct rna_error *why)
{
	server->told[0] = '\0';
	say_down(server, why);
	server->pause = RETRY_FIRST;
	return retry_later(server);
}

static int take_sockets(struct rna_server *server, struct rna_error *error)
{
	int ret = rna_passed_take(&server->passed, error);

	if (ret >= 0 && server->passed.count > 0)
		rna_log_info("serving on %zu socket%s passed by systemd; http.listen is ignored",
			     server->passed.count, server->passed.count == 1 ? "" : "s");
	return ret;
}

/*
 * At boot an address may still be missing: it comes by DHCP, with a bond, or after IPv6 has checked
 * that it is no duplicate. An address that another process has is an error at once: two agents on
 * one node are a mistake.
 */
int rna_server_start(struct rna_server *server, struct rna_error *error)
{
	int ret = take_sockets(server, error);

	if (ret < 0)
		return ret;
	ret = open_web(server->settings, &server->web, error);
	if (ret < 0)
		return ret;
	ret = start_http(server, server->settings, &server->http, error);
	if (ret != -EADDRNOTAVAIL)
		return ret;
	ret = go_without_http(server, error);
	if (ret < 0)
		return rna_error_set(error, ret, "cannot wait for addresses");
	*error = (struct rna_error){0}; /* logged already, and no reason to end the agent */
	return 0;
}

void rna_server_stop(struct rna_server *server)
{
	server->retry = sd_event_source_disable_unref(server->retry);
	server->http = rna_http_stop(server->http);
}

/* -- Other settings ---------------------------------------------------------------------------- */

/*
 * The web configuration is compared by what it says. Where sockets were passed, the addresses make
 * no difference.
 */
static bool same_http(const struct rna_server *server, const struct rna_settings *settings,
		      const struct rna_web_use *web)
{
	struct rna_settings compared = *settings;

	compared.http_web_config_file = server->settings->http_web_config_file;
	if (server->passed.count > 0)
		compared.http_listen = server->settings->http_listen;
	return rna_web_use_same_kind(server->web, web) &&
	       rna_settings_are_same(server->settings, &compared, "http");
}

static void swap_web(struct rna_server *server, struct rna_web_use **web)
{
	struct rna_web_use *old = server->web;

	server->web = *web;
	*web = old;
}

/*
 * The addresses may be the same, so the old server is stopped first. If the new one cannot start,
 * the old one is started again, as soon as its addresses are available. If there was none, the
 * agent waits for the new addresses.
 */
static int restart_http(struct rna_server *server, const struct rna_settings *settings,
			struct rna_web_use **web, struct rna_error *error)
{
	bool served = server->http;
	struct rna_error lost;
	int ret;

	rna_server_stop(server);
	swap_web(server, web);
	ret = start_http(server, settings, &server->http, error);
	if (ret >= 0)
		return ret;
	if (ret == -EADDRNOTAVAIL && !served)
		return go_without_http(server, error);
	swap_web(server, web);
	if (start_http(server, server->settings, &server->http, &lost) < 0)
		(void)go_without_http(server,
				      &lost); /* no memory: HTTP stays down until the next SIGHUP */
	return ret;
}

int rna_server_reload(struct rna_server *server, const struct rna_settings *settings,
		      struct rna_error *error)
{
	RNA_CLEANUP(rna_web_use_close_p) struct rna_web_use *web = NULL;
	int ret = open_web(settings, &web, error);

	if (ret < 0)
		return ret;
	if (!same_http(server, settings, web))
		return restart_http(server, settings, &web, error);
	/* by then the settings are in force */
	if (!server->http && retry_after(server, 0) < 0)
		return rna_error_set(error, -ENOMEM, "cannot wait for addresses");
	swap_web(server, &web);
	return 0;
}

/* -- For others -------------------------------------------------------------------------------- */

struct rna_web *rna_server_web(const struct rna_server *server)
{
	return rna_web_use_newest(server->web, rna_clock_now().realtime);
}

struct rna_web_status rna_server_status(const struct rna_server *server)
{
	struct rna_web_status status = rna_web_use_status(server->web);
	const uint64_t *logins = rna_http_logins(server->http);

	if (logins)
		memcpy(status.logins, logins, sizeof(status.logins));
	return status;
}

struct rna_http_status rna_server_http_status(const struct rna_server *server)
{
	const uint64_t *drops = rna_http_drops(server->http);
	struct rna_http_status status = {.used = drops};

	if (drops)
		memcpy(status.drops, drops, sizeof(status.drops));
	return status;
}

void rna_server_deinit(struct rna_server *server)
{
	rna_server_stop(server);
	server->web = rna_web_use_close(server->web);
	rna_passed_close(&server->passed);
}
