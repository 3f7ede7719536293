/* launch.h - the user's browser. */
#ifndef TRC_VIEWER_SERVE_LAUNCH_H
#define TRC_VIEWER_SERVE_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether there is a display for one. */
bool trc_launch_is_possible(void);
/* Has xdg-open(1) open the address.  Its process, to be waited for; 0: there is none. */
pid_t trc_launch_browser(const char *address);

#endif
