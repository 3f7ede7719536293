/* sampling.c - the events to sample, who samples each event, and how the command is told of its
 * part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

int trc_sampling_add(struct trc_sampling *s, const char *list)
{
	size_t n = strlen(s->events);
	int used = snprintf(s->events + n, sizeof(s->events) - n, "%s%s", n ? "," : "", list);

	return used >= 0 && (size_t)used < sizeof(s->events) - n ? 0 : -1;
}

/* As it was asked for: settled by the command's process in the same way as by us. */
static void tell_command(struct trc_sampling *s, const struct trc_cpu_event *asked)
{
	size_t n = strlen(s->for_command);
	char period[24] = "";

	if (!asked->is_preset && !asked->frequency_hz)
		snprintf(period, sizeof(period), ":%llu", (unsigned long long)asked->period);
	snprintf(s->for_command + n, sizeof(s->for_command) - n, "%s%s%s", n ? "," : "",
		 asked->name, period);
	s->for_command_hz = asked->frequency_hz ? asked->frequency_hz : s->for_command_hz;
}

int trc_sampling_settle(struct trc_sampling *s, char *error, size_t n_bytes)
{
	struct trc_cpu_event asked[TRC_CPU_EVENTS_MAX];
	int n = trc_cpu_events_parse(s->events, s->frequency_hz, s->by, asked, error, n_bytes);

	if (n < 0)
		return n;
	memcpy(s->event, asked, sizeof(asked));
	s->n_events = (unsigned int)n;
	n = trc_cpu_events_settle(s->event, s->n_events, true, error, n_bytes);
	for (unsigned int i = 0; !n && i < s->n_events; i++) {
		if (s->event[i].how != TRC_SAMPLE_KERNEL) {
			tell_command(s, &asked[i]);
			continue;
		}
		s->kernel[s->n_kernel++] = s->event[i];
		if (s->event[i].first_by_signal)
			trc_kernel_events_add(s->first_for_command, sizeof(s->first_for_command),
					      &s->event[i]);
	}
	return n;
}

void trc_sampling_environment(const struct trc_sampling *s)
{
	char hz[24];

	if (!s->n_events)
		return;
	snprintf(hz, sizeof(hz), "%llu", (unsigned long long)s->for_command_hz);
	unsetenv("TRC_CPU_EVENTS");
	unsetenv("TRC_CPU_FREQUENCY");
	unsetenv("TRC_KERNEL_EVENTS");
	setenv("TRC_SAMPLE_BY", "signal", 1);
	if (*s->for_command)
		setenv("TRC_CPU_EVENTS", s->for_command, 1);
	if (s->for_command_hz)
		setenv("TRC_CPU_FREQUENCY", hz, 1);
	if (*s->first_for_command)
		setenv("TRC_KERNEL_EVENTS", s->first_for_command, 1);
}
