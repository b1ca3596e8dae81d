// SPDX-License-Identifier: Apache-2.0
/* Words for what ethtool tells of a link: linux/ethtool.h, ETHTOOL_LINK_EXT_STATE_* and below. */
#include "rna/base/cleanup.h"
#include "rna/model/ethernet.h"

static const struct link_state {
	const char *name;
	const char *text;
	const char *substates[7]; /* from 1 */
} link_states[] = {
	{"autoneg",
	 "the ends do not agree on a mode",
	 {NULL, "no-partner-detected", "ack-not-received", "next-page-exchange-failed",
	  "no-partner-detected-force-mode", "fec-mismatch-during-override", "no-hcd"}},
	{"link-training-failure",
	 "link training failed",
	 {NULL, "kr-frame-lock-not-acquired", "kr-link-inhibit-timeout",
	  "kr-link-partner-did-not-set-receiver-ready", "remote-fault"}},
	{"link-logical-mismatch",
	 "the ends see each other and read different bits: lanes or FEC do not fit",
	 {NULL, "pcs-did-not-acquire-block-lock", "pcs-did-not-acquire-am-lock",
	  "pcs-did-not-get-align-status", "fc-fec-is-not-locked", "rs-fec-is-not-locked"}},
	{"bad-signal-integrity",
	 "the signal is bad",
	 {NULL, "large-number-of-physical-errors", "unsupported-rate",
	  "serdes-reference-clock-lost", "serdes-alos"}},
	{"no-cable", "there is no cable", {0}},
	{"cable-issue",
	 "something is wrong with the cable",
	 {NULL, "unsupported-cable", "cable-test-failure"}},
	{"eeprom-issue", "the memory of the module or cable cannot be read", {0}},
	{"calibration-failure", "calibration failed", {0}},
	{"power-budget-exceeded", "the module wants more power than the port may give", {0}},
	{"overheat", "it is too hot", {0}},
	{"module", "the module is not ready", {NULL, "cmis-not-ready"}},
};

static const struct link_state *find(uint64_t state)
{
	return state < RNA_ARRAY_SIZE(link_states) ? &link_states[state] : NULL;
}

const char *rna_ethernet_link_state_name(uint64_t state)
{
	return find(state) ? find(state)->name : "?";
}

const char *rna_ethernet_link_state_text(uint64_t state)
{
	return find(state) ? find(state)->text : "for a reason that is newer than this agent";
}

const char *rna_ethernet_link_substate_name(uint64_t state, uint64_t substate)
{
	const struct link_state *of = find(state);

	return of && substate < RNA_ARRAY_SIZE(of->substates) ? of->substates[substate] : NULL;
}

const char *rna_fec_name(enum rna_fec fec)
{
	static const char *const names[] = {
		[RNA_FEC_OFF] = "off",
		[RNA_FEC_BASER] = "baser",
		[RNA_FEC_RS] = "rs",
		[RNA_FEC_LLRS] = "llrs",
	};

	return fec < RNA_FEC_COUNT ? names[fec] : "?";
}
