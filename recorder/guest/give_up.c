/* give_up.c - the end of a recording that cannot go on (hot.h, trc_give_up()). */
#include <string.h>
#include "recorder/ring/annotate.h"
#include "recorder/ring/rec.h"
#include "recorder/sampling/sample.h"
#include "session.h"

void trc_give_up(const char *why)
{
	trc_annotate_log(NULL, 0, "trc", why, strlen(why));
	trc_sample_stop();
	trc_session_record(false);
}
