// SPDX-License-Identifier: Apache-2.0
/* Attempts with sockets: to the kernel, and to lldpd. */
#include <errno.h>
#include <linux/ethtool_netlink.h>

#include "rna/attempts.h"
#include "rna/monitor.h"

#include "backend/backends.h"
#include "backend/ethtool.h"

int rna_attempt_rdma_netlink(const struct rna_attempt *attempt, struct rna_strbuf *ret,
			     struct rna_error *error)
{
	RNA_CLEANUP(rna_rdma_numbers_free)
	struct rna_rdma_numbers numbers = {.root = attempt->root};
	struct rna_resource_counts counts;
	const char *device;
	int status;

	if (!attempt->presence || attempt->presence->device_count == 0) {
		rna_strbuf_puts(ret, "no RDMA device is here");
		return RNA_ATTEMPT_NOTHING;
	}
	device = attempt->presence->devices[0].name;
	status = attempt->backends->rdma_netlink->get_resources(&numbers, device, &counts, NULL);
	if (status < 0)
		return rna_error_set(error, status, "%s: objects by RDMA netlink", device);
	rna_strbuf_printf(ret, "the kernel lists the objects of %s", device);
	return RNA_ATTEMPT_WORKS;
}

int rna_attempt_events(const struct rna_attempt *attempt, struct rna_strbuf *ret,
		       struct rna_error *error)
{
	RNA_CLOSE int links = rna_link_monitor_open(error);
	RNA_CLOSE int devices = -1;

	(void)attempt;
	if (links < 0)
		return links;
	devices = rna_uevent_monitor_open(error);
	if (devices < 0)
		return devices;
	rna_strbuf_puts(ret, "sockets of rtnetlink and uevents are open; no event was waited for");
	return RNA_ATTEMPT_WORKS;
}

/* -- Ethtool ----------------------------------------------------------------------------------- */

/*
 * Asks about the loopback interface, which reaches no driver. 0 if the kernel took the question:
 * that this interface has no such thing is an answer.
 */
static int ask_loopback(const struct rna_attempt *attempt,
			const struct rna_ethtool_question *question)
{
	struct rna_ethtool_talk talk = {.root = attempt->root};
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(256);
	struct rna_bytes message;
	int status = arena ? attempt->backends->ethtool->ask(&talk, question, "lo", arena, &message)
			   : -ENOMEM;

	return status == -EOPNOTSUPP && talk.family > 0 ? 0 : status;
}

static int say_ethtool(int status, const char *what, struct rna_strbuf *ret,
		       struct rna_error *error)
{
	if (status == -EOPNOTSUPP)
		return rna_error_say(error, status,
				     "the kernel has no ethtool netlink (Linux 5.6 has it)");
	if (status < 0)
		return rna_error_set(error, status, "%s by ethtool netlink", what);
	rna_strbuf_printf(ret, "the kernel takes questions about %s", what);
	return RNA_ATTEMPT_WORKS;
}

int rna_attempt_ethtool(const struct rna_attempt *attempt, struct rna_strbuf *ret,
			struct rna_error *error)
{
	return say_ethtool(ask_loopback(attempt, &rna_ethtool_link_question), "links", ret, error);
}

/*
 * The kernel looks at the right before it looks for the interface's module (GENL_UNS_ADMIN_PERM of
 * ETHTOOL_MSG_MODULE_EEPROM_GET in net/ethtool/netlink.c, Linux 5.13).
 */
int rna_attempt_modules(const struct rna_attempt *attempt, struct rna_strbuf *ret,
			struct rna_error *error)
{
	static const uint32_t offset = 0, length = 1;
	static const uint8_t page = 0, bank = 0, address = 0x50;
	static const struct rna_ethtool_question question = {
		.name = "module",
		.command = ETHTOOL_MSG_MODULE_EEPROM_GET,
		.reply = ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY,
		.header = ETHTOOL_A_MODULE_EEPROM_HEADER,
		.attributes = {{ETHTOOL_A_MODULE_EEPROM_OFFSET, sizeof(offset), &offset},
			       {ETHTOOL_A_MODULE_EEPROM_LENGTH, sizeof(length), &length},
			       {ETHTOOL_A_MODULE_EEPROM_PAGE, sizeof(page), &page},
			       {ETHTOOL_A_MODULE_EEPROM_BANK, sizeof(bank), &bank},
			       {ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, sizeof(address), &address}},
	};

	return say_ethtool(ask_loopback(attempt, &question), "transceivers", ret, error);
}

/* -- Lldpd ------------------------------------------------------------------------------------- */

int rna_attempt_lldpd(const struct rna_attempt *attempt, struct rna_strbuf *ret,
		      struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	struct rna_lldp_neighbours neighbours = {0};
	int status =
		arena ? attempt->backends->lldp->list(attempt->root, arena, &neighbours) : -ENOMEM;

	switch (status) {
	case -ENOENT:
		rna_strbuf_puts(ret, "no lldpd runs here");
		return RNA_ATTEMPT_NOTHING;
	case -EOPNOTSUPP:
		rna_strbuf_puts(ret, "the library of lldpd is not here");
		return RNA_ATTEMPT_NOTHING;
	default:
		break;
	}
	if (status < 0)
		return rna_error_set(error, status, "the socket of lldpd");
	rna_strbuf_printf(ret, "lldpd answers; neighbours: %zu", neighbours.count);
	return RNA_ATTEMPT_WORKS;
}
