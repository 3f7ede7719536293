/* boot_id.c - see boot_id.h.  Context of all: any thread, also of a forked child. */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include "boot_id.h"
#include "format/hex.h"
#include "format/raw.h"

bool trc_boot_id(uint8_t id[TRC_BOOT_ID_BYTES])
{
	char text[64];
	int fd = (int)trc_raw4(SYS_openat, AT_FDCWD, "/proc/sys/kernel/random/boot_id",
			       O_RDONLY | O_CLOEXEC, 0);
	long n_bytes = fd < 0 ? 0 : trc_raw3(SYS_read, fd, text, sizeof(text));
	unsigned int n = 0;

	if (fd >= 0)
		trc_raw1(SYS_close, fd);
	memset(id, 0, TRC_BOOT_ID_BYTES);
	for (long i = 0; i < n_bytes && n < 2 * TRC_BOOT_ID_BYTES; i++) {
		int digit = trc_hex_digit(text[i]);

		if (digit < 0) /* "-" */
			continue;
		id[n / 2] = (uint8_t)(id[n / 2] << 4 | digit);
		n++;
	}
	if (n == 2 * TRC_BOOT_ID_BYTES)
		return true;
	memset(id, 0, TRC_BOOT_ID_BYTES);
	return false;
}

bool trc_boot_is(const uint8_t id[TRC_BOOT_ID_BYTES])
{
	uint8_t now[TRC_BOOT_ID_BYTES];

	return trc_boot_id(now) && !memcmp(now, id, sizeof(now));
}
