// SPDX-License-Identifier: Apache-2.0
/* exporter/negotiate: what clients ask for, and what they get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/requests.h"

static void test_exposition(void **state)
{
	static const struct {
		const char *accept;
		bool openmetrics;
	} cases[] = {
		{NULL, false},
		{"", false},
		{"*/*", false},
		{"text/plain", false},
		{"text/html,application/xhtml+xml,*/*;q=0.8", false},
		{"application/json", false},
		{"application/*", false}, /* only who names it can read it */
		{"application/openmetrics-text", true},
		{"Application/OpenMetrics-Text; Version=1.0.0", true},
		{"application/openmetrics-text;version=0.0.1", true},
		{"application/openmetrics-text; version=2.0.0", false},
		{"application/openmetrics-text;q=0", false},
		{"application/openmetrics-text;q=0.0,text/plain;q=0", false},
		{"application/openmetrics-text;q=0.3,text/plain;q=0.4", false},
		{"text/plain;q=0.4, application/openmetrics-text ; q=0.4", true},
		{"application/openmetrics-text;q=0.999,text/plain", false},
		{"application/openmetrics-text;q=nonsense", false},
		{"application/openmetrics-text;q=1.5", false},
		{";;,,;q=,=", false},
		{"application/openmetrics-textual", false},
		/* Prometheus 2.42 */
		{"application/openmetrics-text;version=1.0.0,"
		 "application/openmetrics-text;version=0.0.1;q=0.75,"
		 "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		 true},
		/* Prometheus 3 */
		{"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
		 "application/openmetrics-text;version=0.0.1;q=0.5,"
		 "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
		 "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
		 true},
		/* a Prometheus told to prefer classic text */
		{"text/plain;version=0.0.4;q=0.5,application/openmetrics-text;version=1.0.0;q=0.4",
		 false},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		enum rna_exposition format = rna_negotiate_exposition(cases[i].accept);

		if ((format == RNA_EXPOSITION_OPENMETRICS) != cases[i].openmetrics)
			fail_msg("Accept: %s", cases[i].accept);
	}
}

static void test_gzip(void **state)
{
	static const struct {
		const char *accept_encoding;
		bool gzip;
	} cases[] = {
		{NULL, false},
		{"", false},
		{"identity", false},
		{"gzip", true},
		{"GZIP", true},
		{"x-gzip", true},
		{"deflate, gzip;q=1.0, *;q=0.5", true},
		{"gzip;q=0", false},
		{"gzip;q=0.000, *", false},
		{"gzip; q=0.001", true},
		{"*", true},
		{"*;q=0", false},
		{"deflate, br", false},
		{"gzipped", false},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++)
		if (rna_negotiate_gzip(cases[i].accept_encoding) != cases[i].gzip)
			fail_msg("Accept-Encoding: %s", cases[i].accept_encoding);
}

static void test_path(void **state)
{
	static const struct {
		const char *target, *path;
	} cases[] = {
		{"/metrics", "/metrics"},
		{"/", "/"},
		{"//metrics", "//metrics"},
		{"http://node01:10879/metrics", "/metrics"},
		{"HTTPS://[::1]/api/v1/snapshot", "/api/v1/snapshot"},
		{"http://node01", "/"},
		{"http://node01//metrics", "//metrics"},
		{"http:/metrics", "http:/metrics"},
		{"ftp://node01/metrics", "ftp://node01/metrics"},
		{"/http://node01/metrics", "/http://node01/metrics"},
		{"*", "*"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++)
		assert_string_equal(rna_negotiate_path(cases[i].target), cases[i].path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exposition),
		cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
