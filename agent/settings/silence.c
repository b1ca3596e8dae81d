// SPDX-License-Identifier: Apache-2.0
#include "silence.h"

#include <fnmatch.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "rna/base/cleanup.h"
#include "rna/model/device_filter.h"

enum {
	MINUTES_PER_HOUR = 60,
	MINUTES_PER_DAY = 24 * MINUTES_PER_HOUR,
	DAYS_PER_WEEK = 7,
	MINUTES_PER_WEEK = DAYS_PER_WEEK * MINUTES_PER_DAY,
	EPOCH_WEEKDAY = 3, /* 1970-01-01 was a Thursday; Monday is 0 */
	DAY_LETTERS = 3,
};

struct silence {
	bool weekly;
	unsigned first_day, days; /* weekly: the days on which it begins, one after the other */
	unsigned start, length;   /* weekly: in minutes, of the day */
	rna_usec from, until;     /* once */
	const char *glob;         /* points into the entry; NULL: all devices, and the node */
};

/* Takes literal text away from the front of *text. */
static bool take(const char **text, const char *literal)
{
	size_t len = strlen(literal);

	if (strncasecmp(*text, literal, len) != 0)
		return false;
	*text += len;
	return true;
}

/* Takes digits digits away; false: there are fewer, or the number is above max. */
static bool take_number(const char **text, int digits, unsigned max, unsigned *ret)
{
	unsigned number = 0;

	for (int i = 0; i < digits; i++, (*text)++) {
		if (**text < '0' || **text > '9')
			return false;
		number = number * 10 + (unsigned)(**text - '0');
	}
	*ret = number;
	return number <= max;
}

static bool take_day(const char **text, unsigned *ret)
{
	static const char *const names[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

	for (*ret = 0; *ret < DAYS_PER_WEEK; ++*ret)
		if (take(text, names[*ret]))
			return true;
	return false;
}

static bool take_days(const char **text, struct silence *silence)
{
	unsigned last;

	if (take(text, "daily ")) {
		silence->days = DAYS_PER_WEEK;
		return true;
	}
	if (!take_day(text, &silence->first_day))
		return false;
	last = silence->first_day;
	if (take(text, "-") && !take_day(text, &last))
		return false;
	silence->days = (last + DAYS_PER_WEEK - silence->first_day) % DAYS_PER_WEEK + 1;
	return take(text, " ");
}

/* "02:30", in minutes; 24:00 is midnight at the end of a day. */
static bool take_minutes(const char **text, unsigned *ret)
{
	unsigned hour, minute;

	if (!take_number(text, 2, 24, &hour) || !take(text, ":") ||
	    !take_number(text, 2, MINUTES_PER_HOUR - 1, &minute))
		return false;
	*ret = hour * MINUTES_PER_HOUR + minute;
	return *ret <= MINUTES_PER_DAY;
}

static bool take_week(const char **text, struct silence *silence)
{
	unsigned end;

	if (!take_days(text, silence) || !take_minutes(text, &silence->start) || !take(text, "-") ||
	    !take_minutes(text, &end))
		return false;
	silence->length = (end + MINUTES_PER_DAY - silence->start) % MINUTES_PER_DAY;
	if (silence->length == 0)
		silence->length = MINUTES_PER_DAY;
	silence->weekly = true;
	return true;
}

/* "2026-12-01T06:30Z" */
static bool take_time(const char **text, rna_usec *ret)
{
	unsigned year, month, day, minutes;
	struct tm tm;

	if (!take_number(text, 4, 9999, &year) || !take(text, "-") ||
	    !take_number(text, 2, 12, &month) || !take(text, "-") ||
	    !take_number(text, 2, 31, &day) || !take(text, "T") || !take_minutes(text, &minutes) ||
	    !take(text, "Z") || year < 1970 || month == 0 || day == 0)
		return false;
	tm = (struct tm){
		.tm_year = (int)year - 1900,
		.tm_mon = (int)month - 1,
		.tm_mday = (int)day,
		.tm_min = (int)minutes,
	};
	*ret = (rna_usec)timegm(&tm) * RNA_USEC_PER_SEC;
	return minutes == MINUTES_PER_DAY || tm.tm_mday == (int)day; /* no 31st of June */
}

static bool take_interval(const char **text, struct silence *silence)
{
	return take_time(text, &silence->from) && take(text, "/") &&
	       take_time(text, &silence->until) && silence->from < silence->until;
}

static bool parse(const char *entry, struct silence *ret)
{
	bool once = *entry >= '0' && *entry <= '9';

	*ret = (struct silence){0};
	if (!(once ? take_interval : take_week)(&entry, ret))
		return false;
	if (take(&entry, " "))
		ret->glob = entry;
	return ret->glob ? rna_device_glob_is_valid(ret->glob) : *entry == '\0';
}

bool rna_silence_is_valid(const char *entry)
{
	struct silence ignored;

	return parse(entry, &ignored);
}

static bool holds(const struct silence *silence, const char *device, rna_usec realtime)
{
	uint64_t minutes = realtime / RNA_USEC_PER_SEC / 60;
	unsigned now = (unsigned)((minutes + EPOCH_WEEKDAY * MINUTES_PER_DAY) % MINUTES_PER_WEEK);

	if (silence->glob && (!device || fnmatch(silence->glob, device, 0) != 0))
		return false;
	if (!silence->weekly)
		return realtime >= silence->from && realtime < silence->until;
	for (unsigned day = 0; day < silence->days; day++) {
		unsigned start = (silence->first_day + day) * MINUTES_PER_DAY + silence->start;
		unsigned ago = (now + 2 * MINUTES_PER_WEEK - start) % MINUTES_PER_WEEK;

		if (ago < silence->length)
			return true;
	}
	return false;
}

bool rna_silence_holds(char *const *windows, const char *device, rna_usec realtime)
{
	for (; windows && *windows; windows++) {
		struct silence silence;

		if (parse(*windows, &silence) && holds(&silence, device, realtime))
			return true;
	}
	return false;
}
