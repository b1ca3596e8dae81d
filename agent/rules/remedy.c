// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of remedies by place: phrases, which a remedy names in braces, with a row for each
 * kind of place where they read differently. The first row of a name that fits the place is taken;
 * the last fits everywhere.
 *
 * What a phrase tells to run can be run in the state in which it is read. Of a device that has
 * failed nothing can be asked by a firmware command: mlx5_fw_reset_query() answers -ENXIO, so that
 * devlink dev reload ... fw_activate, which begins with it, cannot reset the device (mlx5
 * core/devlink.c, core/cmd.c, 6.12). Its recovery by devlink health needs no command. Unlike the
 * driver's own attempts it heeds no grace period; while the reporter is healthy it does nothing,
 * and says that it succeeded (devlink_health_reporter_recover() in net/devlink/health.c).
 */
#include "remedy.h"

#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/log_match.h"

#include "rules.h"

#define RENTED      RNA_REMEDY_RENTED
#define CLOUD       RNA_REMEDY_CLOUD
#define BOARD       RNA_REMEDY_BOARD
#define VIRTUAL     RNA_REMEDY_VIRTUAL
#define REPRESENTOR RNA_REMEDY_REPRESENTOR
#define BONDED      RNA_REMEDY_BONDED
#define INFINIBAND  RNA_REMEDY_INFINIBAND
#define ETHERNET    RNA_REMEDY_ETHERNET
#define DRIVEN      RNA_REMEDY_DRIVEN
#define RECOVERS    RNA_REMEDY_RECOVERS
#define FLASHES     RNA_REMEDY_FLASHES
#define ACTIVATES   RNA_REMEDY_ACTIVATES
#define NVIDIA      RNA_REMEDY_NVIDIA

static const struct phrase {
	const char *name;
	unsigned when; /* all of these traits */
	const char *text;
} phrases[] = {
	/* In front of what only those can do to whom cards, cables and switches belong. */
	{"{provider}", RENTED, "Report {where} to the provider of this machine, who can do this: "},
	{"{provider}", 0, ""},

	/* A port without a link. */
	{"{link}", REPRESENTOR,
	 "Look at the function that {netdev} stands for: the port has the link that it has."},
	{"{link}", RENTED | VIRTUAL,
	 "Report {where} to the provider of this machine: its host gives the function its link "
	 "state (ip link set dev PF vf N state auto), and has the cable and the switch port."},
	{"{link}", VIRTUAL,
	 "Look at its physical function: at the cable and the switch port of that, and at the link "
	 "state that it gives to {device} (ip link show dev PF)."},
	{"{link}", 0, "{provider}Check the cable, the transceivers and the peer port."},
	{"{unused}", RENTED,
	 "Ignore if unused, otherwise report {where} to the provider of this machine."},
	{"{unused}", VIRTUAL, "Ignore if unused. {link}"},
	{"{unused}", REPRESENTOR, "Ignore if unused. {link}"},
	{"{unused}", 0, "Ignore if unused, otherwise connect the cable."},
	/*
	 * A port whose physical link is up and whose logical one is not. That of a virtual function
	 * has a link state and GUIDs of its own, which the host sets; NVIDIA's opensm serves them
	 * only with virt_enabled 2 (Mellanox/network-operator#249,
	 * k8snetworkplumbingwg/sriov-network-device-plugin#269).
	 */
	{"{guids}", RENTED | VIRTUAL,
	 "Report {where} to the provider of this machine, who can do this: give the function GUIDs "
	 "and a link state (ip link set dev PF vf N node_guid G, port_guid G, state auto), turn on "
	 "virtualization in the subnet manager (virt_enabled 2 in opensm.conf), and admit the GUID "
	 "there. Then bind its driver again: {rebind}."},
	{"{guids}", VIRTUAL,
	 "Give the function GUIDs and a link state (ip link set dev PF vf N node_guid G, port_guid "
	 "G, state auto), and bind its driver again: {rebind}. Check that the subnet manager has "
	 "virtualization on (virt_enabled 2 in opensm.conf) and admits the GUID of {object}."},
	{"{guids}", 0,
	 "{provider}Check that the subnet manager serves the GUID of {object}; if it is that of a "
	 "virtual function, also that virtualization is on there (virt_enabled 2 in opensm.conf), "
	 "and that the host gave it GUIDs and a link state (ip link set dev PF vf N node_guid G, "
	 "port_guid G, state auto)."},

	/* A device that failed: first what brings it back without a reboot, then what remains. */
	{"{rebind}", DRIVEN,
	 "echo {pci} > /sys/bus/pci/drivers/{driver}/unbind; echo {pci} > "
	 "/sys/bus/pci/drivers/{driver}/bind"},
	{"{rebind}", 0, "by unbind and bind in /sys/bus/pci/drivers"},
	{"{recover}", RECOVERS | VIRTUAL,
	 "Run: {command}. If that fails, or that reporter is healthy, bind its driver again: "
	 "{rebind}."},
	{"{recover}", RECOVERS,
	 "Run: {command}. If that fails, or that reporter is healthy, remove the function and "
	 "rescan: echo 1 > /sys/bus/pci/devices/{pci}/remove; echo 1 > /sys/bus/pci/rescan."},
	{"{recover}", CLOUD, "Bind its driver again: {rebind}."},
	{"{recover}", VIRTUAL, "Bind its driver again: {rebind}."},
	{"{recover}", 0,
	 "Remove the function and rescan: echo 1 > /sys/bus/pci/devices/{pci}/remove; echo 1 > "
	 "/sys/bus/pci/rescan."},
	{"{cycle}", CLOUD,
	 "stop and start the instance, so that it gets other hardware; if that does not help "
	 "either, report {where} to its provider"},
	{"{cycle}", RENTED,
	 "report {where} to the provider of this machine, who can power-cycle its host and replace "
	 "the card"},
	{"{cycle}", BOARD,
	 "power-cycle the machine; if that does not help either, its board has to be replaced"},
	{"{cycle}", 0, "power-cycle the node; if that does not help either, replace the card"},
	{"{absent}", RENTED,
	 " If lspci does not show it, report {where} to the provider of this machine."},
	{"{absent}", 0, ""},
	{"{bmc}", RENTED, ""},
	{"{bmc}", 0, " and the log of the BMC"},

	/* The slot. */
	{"{reseat}", RENTED,
	 "Report {where} to the provider of this machine, who can look after the card and its "
	 "slot."},
	{"{reseat}", BOARD,
	 "The NIC is a part of the board: update the firmware of both, and compare them with "
	 "another machine of this kind."},
	{"{reseat}", 0,
	 "Reseat the card, its riser or its cable, and update the firmware of card and host, whose "
	 "setup may limit the slot. If that does not help, replace the card, then the riser."},
	/* All cards of a model alike: no fault of one card. */
	{"{slots}", RENTED,
	 "No action required if the machine is offered like this. Otherwise report {where} to its "
	 "provider: all cards of this model run like this."},
	{"{slots}", BOARD, "{reseat}"},
	{"{slots}", 0,
	 "All cards of this model run like this, so a setting is more likely than a fault: look "
	 "for the PCIe speed of their slots in the setup of the host's firmware, and compare the "
	 "versions of that firmware and of the cards' with those of a healthy node."},
	{"{power}", BOARD, "No action required: the NIC is a part of the board and has no slot."},
	{"{power}", 0,
	 "{provider}Use a slot that supplies the power of the card and its modules, or connect the "
	 "card's power cable; check the slot's power limit in the firmware setup."},
	{"{lanes}", RENTED,
	 "No action required if the machine is offered like this. Otherwise report {where} to its "
	 "provider."},
	{"{lanes}", BOARD, "No action required: the NIC has the lanes that its board gives it."},
	{"{lanes}", 0,
	 "No action required if the node was planned like this. Otherwise move the card to a slot "
	 "with more lanes or a newer generation."},
	{"{another-slot}", RENTED, ""},
	{"{another-slot}", BOARD, ""},
	{"{another-slot}", 0, ", and {device} in another slot"},

	/* Firmware. */
	{"{update}", RENTED, "report {where} to the provider of this machine"},
	{"{update}", VIRTUAL, "update the firmware of its physical function"},
	{"{update}", FLASHES, "update its firmware (devlink dev flash pci/{pci} file FILE)"},
	{"{update}", 0, "update its firmware with the tool of its vendor"},
	{"{activate}", RENTED, ""},
	{"{activate}", VIRTUAL, ""},
	{"{activate}", BONDED, ", and reboot"},
	{"{activate}", ACTIVATES,
	 ", and activate it (devlink dev reload pci/{pci} action fw_activate) or reboot"},
	{"{activate}", 0, ", and reboot"},
	{"{link-type}", RENTED, "report {where} to the provider of this machine"},
	{"{link-type}", VIRTUAL, "set the type of its physical function"},
	{"{link-type}", NVIDIA,
	 "set its type in the firmware (mstconfig -d {pci} set LINK_TYPE_P1=1 for InfiniBand, =2 "
	 "for "
	 "Ethernet; P2 for the second function of a card) and reboot"},
	{"{link-type}", 0,
	 "set its type in the firmware if it has one, or replace it by a NIC of their kind"},

	/* The network. */
	{"{qos-tool}", NVIDIA, "mlnx_qos -i {netdev}, or dcb"},
	{"{qos-tool}", 0, "dcb, or the tool of its vendor"},
	{"{mtu}", RENTED | INFINIBAND,
	 "the MTU of the peer port, by the provider of this machine,"},
	{"{mtu}", INFINIBAND, "the MTU of the peer port, in the settings of its switch,"},
	{"{mtu}", 0, "the MTU of {interface}"},
	{"{fabric}", RENTED, "ask the provider of this machine"},
	{"{fabric}", INFINIBAND, "look at the subnet manager"},
	{"{fabric}", ETHERNET, "look at the switches between them"},
	{"{fabric}", 0, "look at the fabric"},
	{"{switches}", RENTED, ""},
	{"{switches}", 0, " and on the switches"},
	{"{partitions}", RENTED, ""},
	{"{partitions}", ETHERNET, ""},
	{"{partitions}", 0, ", and the partitions of the subnet manager"},
	{"{reset-counters}", ETHERNET,
	 "they begin at 0 when the driver of {device} is loaded again"},
	{"{reset-counters}", CLOUD, "they begin at 0 when the driver of {device} is loaded again"},
	{"{reset-counters}", 0,
	 "if UFM or another performance manager reads the counters of this fabric, they are its "
	 "own: leave them. Otherwise reset those of {object}, for example with perfquery -R"},
};

/* -- Places ------------------------------------------------------------------------------------ */

void rna_remedy_place_set_node(struct rna_remedy_place *place,
			       const struct rna_readiness *readiness)
{
	if (!readiness)
		return;
	if (rna_value_is_known(readiness->virtual_machine) && readiness->virtual_machine.number)
		place->traits |= RENTED;
	if (readiness->platform.cloud)
		place->traits |= RENTED | CLOUD;
	if (readiness->platform.nic_on_board)
		place->traits |= BOARD;
}

void rna_remedy_place_set_driver(struct rna_remedy_place *place, const struct rna_driver *driver)
{
	if (!driver)
		return;
	place->driver = driver;
	place->traits |= DRIVEN | (driver->of_clouds ? RENTED | CLOUD : 0) |
			 (driver->recover ? RECOVERS : 0) | (driver->flashes ? FLASHES : 0) |
			 (driver->activates ? ACTIVATES : 0) | (driver->nvidia_tools ? NVIDIA : 0);
}

void rna_remedy_place_set_function(struct rna_remedy_place *place, enum rna_function function)
{
	if (function == RNA_FUNCTION_VF)
		place->traits |= VIRTUAL;
	else if (function == RNA_FUNCTION_GUEST_VF)
		place->traits |= VIRTUAL | RENTED;
}

void rna_remedy_place_set_link_layer(struct rna_remedy_place *place, enum rna_link_layer link_layer)
{
	if (link_layer == RNA_LINK_LAYER_INFINIBAND)
		place->traits |= INFINIBAND;
	else if (link_layer == RNA_LINK_LAYER_ETHERNET)
		place->traits |= ETHERNET;
}

/* -- Filling in -------------------------------------------------------------------------------- */

/* A function without an RDMA device goes by its address. */
static const char *name_of(const struct rna_remedy_place *place)
{
	return place->device ? place->device : place->pci_address;
}

static void write_device(const struct rna_remedy_place *place, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, name_of(place) ? name_of(place) : "DEVICE");
}

static void write_port(const struct rna_remedy_place *place, struct rna_strbuf *out)
{
	if (place->port > 0)
		rna_strbuf_printf(out, "%u", place->port);
	else
		rna_strbuf_puts(out, "PORT");
}

static void write_object(const struct rna_remedy_place *place, struct rna_strbuf *out)
{
	write_device(place, out);
	if (name_of(place) && place->port == 0)
		return; /* the device as a whole */
	rna_strbuf_puts(out, "/");
	write_port(place, out);
}

static void write_pci(const struct rna_remedy_place *place, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, place->pci_address ? place->pci_address : "PCI-ADDRESS");
}

static void write_netdev(const struct rna_remedy_place *place, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, place->netdev ? place->netdev : "INTERFACE");
}

static void write_interface(const struct rna_remedy_place *place, struct rna_strbuf *out)
{
	if (place->interface)
		rna_strbuf_puts(out, place->interface);
	else
		write_netdev(place, out);
}

/* What identifies it to others; with nothing known, the finding does. */
static void write_where(const struct rna_remedy_place *place, struct rna_strbuf *out)
{
	if (!place->device && !place->pci_address) {
		rna_strbuf_puts(out, "this finding");
		return;
	}
	if (place->device)
		write_object(place, out);
	if (place->pci_address)
		rna_strbuf_printf(out, place->device ? " (PCI %s)" : "PCI %s", place->pci_address);
}

static void write_driver(const struct rna_remedy_place *place, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, place->driver ? place->driver->name : "DRIVER");
}

/* Only where the driver has one. */
static void write_command(const struct rna_remedy_place *place, struct rna_strbuf *out)
{
	rna_remedy_write(place->driver->recover, place, out);
}

static const struct {
	const char *name;
	void (*write)(const struct rna_remedy_place *place, struct rna_strbuf *out);
} names[] = {
	{"{device}", write_device},       {"{port}", write_port},
	{"{object}", write_object},       {"{pci}", write_pci},
	{"{netdev}", write_netdev},       {"{where}", write_where},
	{"{interface}", write_interface}, {"{driver}", write_driver},
	{"{command}", write_command},
};

/* Returns the length of the name that text begins with; 0: none. */
static size_t write_name(const char *text, const struct rna_remedy_place *place,
			 struct rna_strbuf *out)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(names); i++) {
		size_t len = strlen(names[i].name);

		if (strncmp(text, names[i].name, len) != 0)
			continue;
		names[i].write(place, out);
		return len;
	}
	return 0;
}

/* Likewise of a phrase. */
static size_t write_phrase(const char *text, const struct rna_remedy_place *place,
			   struct rna_strbuf *out)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(phrases); i++) {
		size_t len = strlen(phrases[i].name);

		if (strncmp(text, phrases[i].name, len) != 0 ||
		    (phrases[i].when & ~place->traits) != 0)
			continue;
		rna_remedy_write(phrases[i].text, place, out);
		return len;
	}
	return 0;
}

void rna_remedy_write(const char *remedy, const struct rna_remedy_place *place,
		      struct rna_strbuf *out)
{
	static const struct rna_remedy_place unknown = {0};

	place = place ? place : &unknown;
	while (*remedy != '\0') {
		size_t plain = strcspn(remedy, "{"), len;

		rna_strbuf_add(out, remedy, plain);
		remedy += plain;
		len = write_name(remedy, place, out);
		if (len == 0)
			len = write_phrase(remedy, place, out);
		if (len == 0 && *remedy != '\0')
			rna_strbuf_add_char(out, *remedy++);
		remedy += len;
	}
}

const char *rna_remedy_next_phrase(size_t *at)
{
	return *at < RNA_ARRAY_SIZE(phrases) ? phrases[(*at)++].name : NULL;
}

/* -- The table for readers --------------------------------------------------------------------- */

/* Places that differ. */
static const struct {
	const char *name, *driver;
	unsigned traits;
} places[] = {
	{"mlx5, InfiniBand", "mlx5_core", INFINIBAND},
	{"mlx5, RoCE", "mlx5_core", ETHERNET},
	{"mlx5 in a bond", "mlx5_core", ETHERNET | BONDED},
	{"bnxt", "bnxt_en", ETHERNET},
	{"ice", "ice", ETHERNET},
	{"ionic", "ionic", ETHERNET},
	{"others", "hns3", ETHERNET},
	{"virtual function, on its host", "mlx5_core", INFINIBAND | VIRTUAL},
	{"representor", "mlx5_core", ETHERNET | REPRESENTOR},
	{"NIC of the board", "mlx5_core", ETHERNET | BOARD},
	{"mlx5 in a guest, InfiniBand", "mlx5_core", INFINIBAND | VIRTUAL | RENTED},
	{"mlx5 in a guest, RoCE", "mlx5_core", ETHERNET | VIRTUAL | RENTED},
	{"cloud without hypervisor", "mlx5_core", ETHERNET | RENTED | CLOUD},
	{"EFA, eRDMA, MANA", "efa", RENTED | CLOUD},
};

/* NULL: it is not read there, or there is no memory. */
static char *text_at(size_t number, const char *remedy, enum rna_link_layer only)
{
	struct rna_remedy_place place = {.traits = places[number].traits};
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	if (only == RNA_LINK_LAYER_INFINIBAND && !(place.traits & INFINIBAND))
		return NULL;
	rna_remedy_place_set_driver(&place, rna_driver_named(places[number].driver));
	rna_remedy_write(remedy, &place, &text);
	return rna_strbuf_take(&text);
}

/* What only says in front of it who can do it is described by the phrase. */
static bool depends_on_place(const char *remedy)
{
	for (size_t i = 1; i < RNA_ARRAY_SIZE(phrases); i++)
		if (strcmp(phrases[i].name, phrases[0].name) != 0 &&
		    strstr(remedy, phrases[i].name))
			return true;
	return false;
}

/* A row for all places where it reads alike. only: the link layer on which it can; UNKNOWN: any. */
static void describe_remedy(const char *name, const char *remedy, enum rna_link_layer only,
			    struct rna_strbuf *out)
{
	for (size_t i = 0; depends_on_place(remedy) && i < RNA_ARRAY_SIZE(places); i++) {
		RNA_FREE char *text = text_at(i, remedy, only);
		RNA_STRBUF struct rna_strbuf alike = RNA_STRBUF_INIT;
		bool first = text;

		for (size_t other = 0; text && other < RNA_ARRAY_SIZE(places); other++) {
			RNA_FREE char *its = text_at(other, remedy, only);

			if (!rna_same_text(its, text))
				continue;
			first &= other >= i;
			rna_strbuf_printf(&alike, "%s%s", alike.len > 0 ? "; " : "",
					  places[other].name);
		}
		out->failed |= alike.failed;
		if (first && !alike.failed)
			rna_strbuf_printf(out, "`%s`\t%s\t%s\n", name, alike.data, text);
	}
}

/* Messages with the same remedy, by the first of them. */
static void describe_message(size_t number, struct rna_strbuf *out)
{
	const char *remedy = rna_log_patterns[number].remedy;
	RNA_STRBUF struct rna_strbuf alike = RNA_STRBUF_INIT;

	for (size_t i = 0; remedy && i < rna_log_pattern_count; i++) {
		if (!rna_same_text(rna_log_patterns[i].remedy, remedy))
			continue;
		if (i < number)
			return;
		rna_strbuf_printf(&alike, "%s%s", alike.len > 0 ? "`, `" : "",
				  rna_log_patterns[i].name);
	}
	out->failed |= alike.failed;
	if (alike.len > 0)
		describe_remedy(alike.data, remedy, RNA_LINK_LAYER_UNKNOWN, out);
}

void rna_remedies_describe(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "Rule, or messages\tPlace\tWhat to do\n");
	for (size_t i = 0; i < RNA_RULE_COUNT; i++)
		describe_remedy(rna_rules[i]->name, rna_rules[i]->remedy, rna_rules[i]->link_layer,
				out);
	for (size_t i = 0; i < rna_log_pattern_count; i++)
		describe_message(i, out);
}
