/*
 * one_line.h - what others gave, where a message shows it: the message stays one line, and no
 * terminal takes it for orders.
 *
 * Context: any thread, signal handlers.
 */
#ifndef TRC_RECORDER_SHARED_ONE_LINE_H
#define TRC_RECORDER_SHARED_ONE_LINE_H

static inline void trc_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

#endif
