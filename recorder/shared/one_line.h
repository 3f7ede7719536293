/*
 * one_line.h - makes text from other programs safe for a message: the message stays one line, and
 * the text has no control characters for a terminal.
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
