// SPDX-License-Identifier: Apache-2.0
#include "remedy.h"

#include <string.h>

static void write_device(const struct rna_remedy_names *names, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, names->device ? names->device : "DEVICE");
}

static void write_port(const struct rna_remedy_names *names, struct rna_strbuf *out)
{
	if (names->port > 0)
		rna_strbuf_printf(out, "%u", names->port);
	else
		rna_strbuf_puts(out, "PORT");
}

static void write_object(const struct rna_remedy_names *names, struct rna_strbuf *out)
{
	write_device(names, out);
	if (names->device && names->port == 0)
		return; /* the device as a whole */
	rna_strbuf_puts(out, "/");
	write_port(names, out);
}

static void write_pci(const struct rna_remedy_names *names, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, names->pci_address ? names->pci_address : "PCI-ADDRESS");
}

static void write_netdev(const struct rna_remedy_names *names, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, names->netdev ? names->netdev : "INTERFACE");
}

static void write_interface(const struct rna_remedy_names *names, struct rna_strbuf *out)
{
	if (names->interface)
		rna_strbuf_puts(out, names->interface);
	else
		write_netdev(names, out);
}

static const struct {
	const char *name;
	void (*write)(const struct rna_remedy_names *names, struct rna_strbuf *out);
} placeholders[] = {
	{"{device}", write_device}, {"{port}", write_port},     {"{object}", write_object},
	{"{pci}", write_pci},       {"{netdev}", write_netdev}, {"{interface}", write_interface},
};

/* Returns the length of the placeholder that text begins with; 0: none. */
static size_t write_placeholder(const char *text, const struct rna_remedy_names *names,
				struct rna_strbuf *out)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(placeholders); i++) {
		size_t len = strlen(placeholders[i].name);

		if (strncmp(text, placeholders[i].name, len) != 0)
			continue;
		placeholders[i].write(names, out);
		return len;
	}
	return 0;
}

void rna_remedy_write(const char *remedy, const struct rna_remedy_names *names,
		      struct rna_strbuf *out)
{
	static const struct rna_remedy_names unknown = {0};

	while (*remedy != '\0') {
		size_t plain = strcspn(remedy, "{"), len;

		rna_strbuf_add(out, remedy, plain);
		remedy += plain;
		len = write_placeholder(remedy, names ? names : &unknown, out);
		if (len == 0 && *remedy != '\0')
			rna_strbuf_add_char(out, *remedy++);
		remedy += len;
	}
}
