// SPDX-License-Identifier: Apache-2.0
/*
 * Values of the command line that take the place of the file's. They are put into the settings
 * after each load, so that a reload keeps them.
 */
#include <stdio.h>
#include <string.h>

#include "setting_forms.h"
#include "settings_table.h"

enum { KEY_MAX = 64 }; /* bytes; longer than any name of an option */

static bool is_first(const struct rna_override *overrides, const struct rna_override *override)
{
	while (strcmp(overrides->setting, override->setting) != 0)
		overrides++;
	return overrides == override;
}

/* As in the file, but errors name the option, and a path may be relative. */
static int put(const struct rna_override *override, struct rna_settings *settings,
	       struct rna_error *error)
{
	struct rna_setting setting = *rna_setting_find(override->setting);
	char key[KEY_MAX];

	(void)snprintf(key, sizeof(key), "--%s", override->option);
	setting.key = key;
	if (setting.is_valid == rna_path_or_none_is_valid)
		setting.is_valid = rna_any_text_is_valid;
	return rna_setting_put(&setting, override->value, settings, error);
}

int rna_config_override(const struct rna_override *overrides, struct rna_settings *settings,
			struct rna_error *error)
{
	int ret = 0;

	for (const struct rna_override *override = overrides;
	     ret == 0 && override && override->option; override++) {
		const struct rna_setting *setting = rna_setting_find(override->setting);

		if (setting->type == RNA_SETTING_LIST && is_first(overrides, override))
			rna_setting_clear(setting, settings);
		ret = put(override, settings, error);
	}
	return ret;
}
