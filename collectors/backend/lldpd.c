// SPDX-License-Identifier: Apache-2.0
/*
 * The LLDP backends: lldpd through its own library, and files of a recording.
 *
 * Receiving LLDP needs a packet socket on each interface; on nodes where switches matter, lldpd
 * already does that. Its library talks to it over a unix socket, which this file provides, so that
 * a daemon that hangs costs a deadline and not a lane.
 */
#include <errno.h>
#include <string.h>

#include "rna/base/library.h"

#include "collectors_config.h"
#include "recorded.h"

/* -- A recording ------------------------------------------------------------------------------- */

static const struct rna_recorded_field fields[] = {
	{"guid", offsetof(struct rna_peer, guid), RNA_RECORDED_TEXT}, /* chassis ID */
	{"name", offsetof(struct rna_peer, name), RNA_RECORDED_TEXT},
	{"port", offsetof(struct rna_peer, port), RNA_RECORDED_TEXT},
	{"port_description", offsetof(struct rna_peer, port_description), RNA_RECORDED_TEXT},
};
const struct rna_recorded_fields rna_recorded_lldp_peer = {RNA_ARRAY_SIZE(fields), fields};

static int read_neighbour(const struct rna_root *root, const char *netdev, struct rna_arena *arena,
			  struct rna_lldp_neighbour *ret)
{
	const struct rna_recorded_place place =
		RNA_RECORDED_AT(root, arena, RNA_RECORDED_LLDP "/%s", netdev);
	const char *path = rna_recorded_path(&place, "bridge");

	*ret = (struct rna_lldp_neighbour){
		.netdev = rna_arena_strdup(arena, netdev),
		.peer = {.source = RNA_PEER_BY_LLDP},
	};
	if (path && rna_root_exists(root, path)) /* or router */
		ret->peer.type = RNA_NODE_TYPE_SWITCH;
	return ret->netdev ? rna_recorded_read(&place, &rna_recorded_lldp_peer, &ret->peer)
			   : -ENOMEM;
}

static int list_recorded(const struct rna_root *root, struct rna_arena *arena,
			 struct rna_lldp_neighbours *ret)
{
	char **names;
	ssize_t count = rna_root_list(root, RNA_RECORDED_LLDP, arena, &names);
	int status = 0;

	if (count < 0)
		return (int)count;
	if (count > RNA_LLDP_MAX)
		count = RNA_LLDP_MAX;
	ret->items = rna_arena_array(arena, (size_t)count, sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	for (; status == 0 && ret->count < (size_t)count; ret->count++)
		status = read_neighbour(root, names[ret->count], arena, &ret->items[ret->count]);
	return status;
}

const struct rna_lldp_backend rna_recorded_lldp = {.list = list_recorded};

/* -- Lldpd ------------------------------------------------------------------------------------- */

#if HAVE_LLDPCTL

#include <dlfcn.h>
#include <lldp-const.h>
#include <lldpctl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE (2 * RNA_USEC_PER_SEC) /* for a whole conversation */

enum {
	BYTES_MAX =
		16 << 20, /* received in a conversation; a node with 1,000 interfaces has 4 MiB */
	ELEMENTS_MAX = 4096, /* of a list */
};

#define LIBRARY "liblldpctl.so.4"

/*
 * The library is part of lldpd: linking to it would require the daemon on every node. So it is
 * loaded at run time if installed, with the symbols that its header declares.
 */
struct library {
	typeof(&lldpctl_get_default_transport) get_default_transport;
	typeof(&lldpctl_log_callback) log_callback;
	typeof(&lldpctl_new) new;
	typeof(&lldpctl_release) release;
	typeof(&lldpctl_get_interfaces) get_interfaces;
	typeof(&lldpctl_get_port) get_port;
	typeof(&lldpctl_atom_get) atom_get;
	typeof(&lldpctl_atom_get_str) atom_get_str;
	typeof(&lldpctl_atom_get_int) atom_get_int;
	typeof(&lldpctl_atom_dec_ref) atom_dec_ref;
	typeof(&lldpctl_atom_iter) atom_iter;
	typeof(&lldpctl_atom_iter_next) atom_iter_next;
	typeof(&lldpctl_atom_iter_value) atom_iter_value;
};

static bool load(struct library *library)
{
	const struct rna_symbol symbols[] = {
		{"lldpctl_get_default_transport", &library->get_default_transport},
		{"lldpctl_log_callback", &library->log_callback},
		{"lldpctl_new", &library->new},
		{"lldpctl_release", &library->release},
		{"lldpctl_get_interfaces", &library->get_interfaces},
		{"lldpctl_get_port", &library->get_port},
		{"lldpctl_atom_get", &library->atom_get},
		{"lldpctl_atom_get_str", &library->atom_get_str},
		{"lldpctl_atom_get_int", &library->atom_get_int},
		{"lldpctl_atom_dec_ref", &library->atom_dec_ref},
		{"lldpctl_atom_iter", &library->atom_iter},
		{"lldpctl_atom_iter_next", &library->atom_iter_next},
		{"lldpctl_atom_iter_value", &library->atom_iter_value},
	};
	const char *missing;

	return rna_library_open(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, symbols,
				RNA_ARRAY_SIZE(symbols), &missing) &&
	       !missing;
}

struct talk {
	const struct library *library;
	struct rna_arena *arena;
	int fd;
	rna_usec until; /* monotonic */
	size_t received;
	int error; /* first error, negative errno */
};

/* Waits until the socket is ready. False: the deadline has passed. */
static bool wait_for(struct talk *talk, short events)
{
	rna_usec now = rna_clock_now().monotonic;
	struct pollfd fd = {.fd = talk->fd, .events = events};

	if (now < talk->until &&
	    poll(&fd, 1, (int)((talk->until - now) / RNA_USEC_PER_MSEC) + 1) > 0)
		return true;
	talk->error = talk->error ? talk->error : -ETIMEDOUT;
	return false;
}

/* Like the library's own function: sends everything or fails. */
static ssize_t send_all(lldpctl_conn_t *connection, const uint8_t *data, size_t len, void *userdata)
{
	struct talk *talk = userdata;
	size_t done = 0;

	(void)connection;
	while (done < len) {
		ssize_t sent = -1;

		if (wait_for(talk, POLLOUT))
			sent = send(talk->fd, data + done, len - done, MSG_NOSIGNAL);
		if (sent < 0)
			return LLDPCTL_ERR_CALLBACK_FAILURE;
		done += (size_t)sent;
	}
	return (ssize_t)done;
}

static ssize_t receive_all(lldpctl_conn_t *connection, uint8_t *data, size_t len, void *userdata)
{
	struct talk *talk = userdata;
	size_t done = 0;

	(void)connection;
	talk->received += len;
	if (talk->received > BYTES_MAX)
		talk->error = talk->error ? talk->error : -EMSGSIZE;
	while (done < len) {
		ssize_t got = -1;

		if (talk->error == 0 && wait_for(talk, POLLIN))
			got = recv(talk->fd, data + done, len - done, 0);
		if (got < 0)
			return LLDPCTL_ERR_CALLBACK_FAILURE;
		if (got == 0)
			return done > 0 ? (ssize_t)done : (ssize_t)LLDPCTL_ERR_EOF;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* Discards messages of the library; its error codes are sufficient. */
static void ignore_message(int severity, const char *text)
{
	(void)severity;
	(void)text;
}

/*
 * The library trusts what it receives: it copies pointers between structures of any type
 * (lldpd 1.0.16, src/marshal.c). So only the socket of a privileged process is asked. lldpd listens
 * before it drops its privileges (src/daemon/lldpd.c: ctl_create(), then priv_init()), and the
 * credentials of a peer are those of listen(2). What is no socket refuses the connection.
 */
static bool is_trusted(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       (peer.uid == 0 || peer.uid == geteuid());
}

static int connect_to(const struct rna_root *root, const char *transport)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, len = snprintf(address.sun_path, sizeof(address.sun_path), "%s%s",
			       strcmp(rna_root_path(root), "/") == 0 ? "" : rna_root_path(root),
			       transport);

	if (len < 0 || (size_t)len >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		len = -errno;
	else if (is_trusted(fd))
		return fd;
	else
		len = -EPERM;
	(void)close(fd);
	/* a crashed daemon leaves a socket without listener */
	return len == -ECONNREFUSED ? -ENOENT : len;
}

static const char *copy_text(const struct talk *talk, lldpctl_atom_t *atom, lldpctl_key_t key)
{
	const char *text = talk->library->atom_get_str(atom, key);

	return text && *text ? rna_arena_strdup(talk->arena, text) : NULL;
}

/*
 * A list without end: releasing it would not end either. The agent keeps it, and asks lldpd nothing
 * more until its own restart.
 */
static _Atomic(lldpctl_atom_t *) endless;

/* Calls take for each element of a list; releases the elements and the list. */
static void for_each(struct talk *talk, lldpctl_atom_t *list,
		     void (*take)(struct talk *talk, lldpctl_atom_t *element, void *userdata),
		     void *userdata)
{
	const struct library *library = talk->library;
	lldpctl_atom_iter_t *at;
	size_t count = 0;

	for (at = library->atom_iter(list); at; at = library->atom_iter_next(list, at)) {
		lldpctl_atom_t *element;

		if (++count > ELEMENTS_MAX) {
			talk->error = talk->error ? talk->error : -EPROTO;
			endless = list;
			return;
		}
		element = talk->error < 0 ? NULL : library->atom_iter_value(list, at);
		if (!element)
			continue;
		take(talk, element, userdata);
		library->atom_dec_ref(element);
	}
	library->atom_dec_ref(list);
}

/* Uses the first of several neighbours, for example behind a hub. */
static void take_neighbour(struct talk *talk, lldpctl_atom_t *neighbour, void *userdata)
{
	enum { OF_NETWORKS = LLDP_CAP_BRIDGE | LLDP_CAP_ROUTER };
	const struct library *library = talk->library;
	struct rna_peer *peer = userdata;
	lldpctl_atom_t *chassis;

	if (peer->source == RNA_PEER_BY_LLDP)
		return;
	peer->source = RNA_PEER_BY_LLDP;
	peer->port = copy_text(talk, neighbour, lldpctl_k_port_id);
	peer->port_description = copy_text(talk, neighbour, lldpctl_k_port_descr);
	chassis = library->atom_get(neighbour, lldpctl_k_port_chassis);
	if (!chassis)
		return;
	peer->guid = copy_text(talk, chassis, lldpctl_k_chassis_id);
	peer->name = copy_text(talk, chassis, lldpctl_k_chassis_name);
	if (library->atom_get_int(chassis, lldpctl_k_chassis_cap_enabled) & OF_NETWORKS)
		peer->type = RNA_NODE_TYPE_SWITCH;
	library->atom_dec_ref(chassis);
}

static void take_interface(struct talk *talk, lldpctl_atom_t *interface, void *userdata)
{
	struct rna_lldp_neighbours *ret = userdata;
	struct rna_lldp_neighbour *next = &ret->items[ret->count];
	lldpctl_atom_t *port, *neighbours;

	if (ret->count == RNA_LLDP_MAX || talk->error < 0)
		return;
	port = talk->library->get_port(interface);
	if (!port) /* interface removed, or deadline passed (see talk->error) */
		return;
	next->netdev = copy_text(talk, interface, lldpctl_k_interface_name);
	if (!next->netdev)
		talk->error = -ENOMEM;
	neighbours = talk->library->atom_get(port, lldpctl_k_port_neighbors);
	if (neighbours)
		for_each(talk, neighbours, take_neighbour, &next->peer);
	if (next->netdev && next->peer.source == RNA_PEER_BY_LLDP)
		ret->count++;
	talk->library->atom_dec_ref(port);
}

static int take_all(struct talk *talk, lldpctl_conn_t *connection, struct rna_lldp_neighbours *ret)
{
	lldpctl_atom_t *interfaces = talk->library->get_interfaces(connection);

	if (!interfaces)
		return talk->error ? talk->error : -EPROTO;
	for_each(talk, interfaces, take_interface, ret);
	return talk->error;
}

static int list_neighbours(const struct rna_root *root, struct rna_arena *arena,
			   struct rna_lldp_neighbours *ret)
{
	struct library library;
	struct talk talk = {&library, arena, .until = rna_clock_now().monotonic + PATIENCE};
	lldpctl_conn_t *connection;
	RNA_CLOSE int fd = -1;
	int status = -ENOMEM;

	if (endless)
		return -EPROTO;
	if (!load(&library))
		return -EOPNOTSUPP;
	fd = connect_to(root, library.get_default_transport());
	if (fd < 0)
		return fd;
	talk.fd = fd;
	ret->items = rna_arena_array(arena, RNA_LLDP_MAX, sizeof(*ret->items));
	library.log_callback(ignore_message);
	/* lldpd 1.0.18 declares the buffer const, 1.0.23 does not */
	connection = library.new(send_all, (lldpctl_recv_callback)receive_all, &talk);
	if (ret->items && connection)
		status = take_all(&talk, connection, ret);
	if (connection)
		(void)library.release(connection); /* does not close the socket */
	return status;
}

#else /* !HAVE_LLDPCTL */

static int list_neighbours(const struct rna_root *root, struct rna_arena *arena,
			   struct rna_lldp_neighbours *ret)
{
	(void)root;
	(void)arena;
	(void)ret;
	return -EOPNOTSUPP;
}

#endif

const struct rna_lldp_backend rna_lldpd = {.list = list_neighbours};
