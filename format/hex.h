/*
 * hex.h - hexadecimal digits.
 */
#ifndef TRC_FORMAT_HEX_H
#define TRC_FORMAT_HEX_H

/* What a digit of either case stands for; -1 = `c` is no digit. */
static inline int trc_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

#endif
