/* frame.c - see frame.h. */
#include "frame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "assets.h"
#include "viewer/page.h"

static void write_policy(struct trc_frame *f)
{
	snprintf(f->policy, sizeof(f->policy),
		 "default-src 'none'; script-src '%s'; style-src '%s'; connect-src 'self'; "
		 "frame-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
		 "frame-ancestors 'none'",
		 trc_asset_frame_js_hash, trc_asset_frame_css_hash);
}

/* Numbers that JavaScript has exactly. */
static void write_overview(FILE *out, const struct trc_overview *o)
{
	fprintf(out, "{\"span\":%" PRId64 ",\"events\":%" PRIu64 ",\"to\":%" PRId64 ",\"counts\":[",
		o->span_ns, o->n_events, o->first.to_ns);
	for (size_t i = 0; i < TRC_OVERVIEW_PARTS; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", o->count[i]);
	fputs("]}", out);
}

static void write_frame(FILE *out, const char *name, uint32_t pid, bool with_sql,
			const struct trc_overview *overview)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<link rel=\"icon\" href=\"data:,\">\n<title>trc</title>\n<style>",
	      out);
	fwrite(trc_asset_frame_css, 1, trc_asset_frame_css_bytes, out);
	fputs("</style>\n</head>\n<body>\n", out);
	fwrite(trc_asset_frame_body, 1, trc_asset_frame_body_bytes, out);
	fputs("<script type=\"application/json\" id=\"about\">{\"name\":", out);
	trc_page_json_string(out, name);
	fprintf(out, ",\"pid\":%u,\"sql\":%s,\"overview\":", pid, with_sql ? "true" : "false");
	write_overview(out, overview);
	fputs("}</script>\n<script>", out);
	fwrite(trc_asset_frame_js, 1, trc_asset_frame_js_bytes, out);
	fputs("</script>\n</body>\n</html>\n", out);
}

int trc_frame_make(struct trc_frame *f, const char *name, uint32_t pid, bool with_sql,
		   const struct trc_overview *overview)
{
	FILE *out = open_memstream(&f->bytes, &f->n_bytes);

	if (!out)
		return -errno;
	write_frame(out, name, pid, with_sql, overview);
	write_policy(f);
	return fclose(out) ? -ENOMEM : 0;
}

void trc_frame_free(struct trc_frame *f)
{
	free(f->bytes);
	*f = (struct trc_frame){0};
}
