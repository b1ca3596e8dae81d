// SPDX-License-Identifier: Apache-2.0
/* exporter/page_wire: what the status page says of links and modules, and what it leaves out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/ethernet.h"
#include "rna/model/module.h"

#include "page/page_parts.h"

typedef void write_part(struct rna_strbuf *out, const struct rna_subject *port);

static void assert_writes(write_part *write, struct rna_part *part, unsigned id, const char *html)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	const struct rna_device device = {.name = "mlx5_0"};
	struct rna_snapshot_device of = {.device = &device};
	const struct rna_subject port = {.device = &of, .port = 1};

	of.parts[id] = part;
	rna_strbuf_puts(&out, "");
	write(&out, &port);
	assert_string_equal(out.data ? out.data : "", html);
}

/* -- Links ------------------------------------------------------------------------------------- */

static void assert_link(const struct rna_ethernet_netdev *netdev, const char *html)
{
	struct rna_ethernet ethernet = {.count = 1, .netdevs = netdev};

	assert_writes(rna_page_wire, &ethernet.part, RNA_COLLECTOR_ETHERNET, html);
}

static void test_links(void **state)
{
	struct rna_ethernet_netdev netdev = {.name = "eth0", .port = 1};

	(void)state;
	assert_link(&netdev, "");
	netdev.link.up = rna_value_ok(1);
	netdev.mode.lanes = rna_value_ok(4);
	assert_link(&netdev, "<br><small>4 lanes</small>");
	netdev.fec.active = rna_value_ok(RNA_FEC_RS);
	assert_link(&netdev, "<br><small>4 lanes, FEC rs</small>");
	netdev.mode.lanes = rna_value_ok(1);
	assert_link(&netdev, "<br><small>1 lane, FEC rs</small>");
	netdev.port = 2;
	assert_link(&netdev, "");
	netdev = (struct rna_ethernet_netdev){.name = "eth0", .port = 1};
	netdev.link.up = rna_value_ok(0);
	assert_link(&netdev, "");
	netdev.link.state = rna_value_ok(4); /* ETHTOOL_LINK_EXT_STATE_NO_CABLE */
	assert_link(&netdev, "<br><b class=bad>no cable</b>");
	assert_writes(rna_page_wire, NULL, RNA_COLLECTOR_ETHERNET, "");
}

/* -- Modules ----------------------------------------------------------------------------------- */

static void assert_module(const struct rna_port_module *module, const char *html)
{
	struct rna_modules modules = {.count = 1, .modules = module};

	assert_writes(rna_page_modules, &modules.part, RNA_COLLECTOR_MODULE, html);
}

static void test_modules(void **state)
{
	struct rna_port_module module = {.netdev = "eth0", .port = 1, .form = "OSFP"};

	(void)state;
	module.copper = true;
	assert_module(&module, "OSFP <small>copper</small>");
	module.copper = false;
	module.temperature = rna_value_ok(41300);
	module.limits[RNA_MODULE_TEMPERATURE][RNA_MODULE_HIGH_ALARM] = rna_value_ok(75000);
	module.lane_count = 2;
	for (unsigned lane = 0; lane < 2; lane++)
		for (unsigned m = RNA_MODULE_RECEIVE_POWER; m < RNA_MODULE_MEASURE_COUNT; m++)
			module.lanes[lane][m] = rna_value_ok(1200000);
	module.lanes[1][RNA_MODULE_RECEIVE_POWER] = rna_value_ok(710000);
	assert_module(&module, "OSFP <small>optical</small><br><small>41 °C</small> "
			       "<small>gets 0.71 mW</small>");
	module.temperature = rna_value_ok(76000);
	module.limits[RNA_MODULE_RECEIVE_POWER][RNA_MODULE_LOW_WARNING] = rna_value_ok(800000);
	assert_module(&module, "OSFP <small>optical</small><br><b class=bad>76 °C</b> "
			       "<b class=warn>gets 0.71 mW</b>");
	module.port = 2;
	assert_module(&module, "–");
	assert_writes(rna_page_modules, NULL, RNA_COLLECTOR_MODULE, "–");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
