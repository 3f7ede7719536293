# score.awk - profiles held against what was known beforehand.
#
#   awk -v program=NAME -f score.awk EXPECT SKIPPED RESULTS
#
# EXPECT: function, its share in per cent.  SKIPPED: engine, why it could not be used.  RESULTS:
# program, engine, rate, run, then "share", function, weight, samples: what the profile says
# ("-" is any other function); or "clock", function, nanoseconds: what the program's own clock
# says.  Columns are separated by tabs.  Engine "none" is the program alone, with its own clock for
# a profile: no profiler can be expected to be nearer to EXPECT than the machine itself was.
#
# A share is of all the weight in the profile.  An error is in percentage points.  The profiler is
# held against the program's own clocks in the same run: a machine that does not keep its pace is
# not the profiler's error.  Of the runs of one engine at one rate:
#
#   own clock   the largest difference, of any function in any run, from the share by the own clock
#   worst       the largest difference from EXPECT: the machine's error, too
#   mean        the mean of all of these without their signs
#   CV          standard deviation over mean, from run to run, of a function's share over that by the
#               own clock, in per cent: the worst function's, and the mean of all
#   rank        pairs of functions whose shares by the own clock are 2 points or more apart and that
#               do not come in that order, in all runs
#   missing     functions without a sample, in all runs
#
# Targets at 1,000 Hz and above: of concurrent, own clock <= 0.25 and CV <= 1; of serial, own clock <= 0.3
# and rank 0.
#
# SPDX-License-Identifier: Apache-2.0
BEGIN { FS = "\t" }

FILENAME == ARGV[1] {
	name[++n_names] = $1
	expected[$1] = $2
	next
}

FILENAME == ARGV[2] {
	skipped[++n_skipped] = $1
	reason[$1] = $2
	next
}

$1 != program { next }

{
	key = $2 SUBSEP $3
	if (!(key in runs)) {
		order[++n_keys] = key
		runs[key] = 0
	}
	if (!((key, $4) in run_idx))
		run_idx[key, $4] = ++runs[key]
	run = run_idx[key, $4]
}

$5 == "clock" {
	clock_ns[key, run, $6] = $7
	clock_sum_ns[key, run] += $7
	next
}

{
	weight[key, run, $6] += $7
	weight_sum[key, run] += $7
	samples[key] += $8
}

function abs(x)
{
	return x < 0 ? -x : x
}

function share(key, run, f)
{
	return weight_sum[key, run] ? weight[key, run, f] / weight_sum[key, run] * 100 : 0
}

function clock_share(key, run, f)
{
	return clock_sum_ns[key, run] ? clock_ns[key, run, f] / clock_sum_ns[key, run] * 100 : 0
}

function max(a, b)
{
	return a > b ? a : b
}

# What becomes of one function: mean_error, worst_error, cv.
function score_function(key, f,    run, x, own, ratio, sum, ratios, squares, mean, variance)
{
	sum = ratios = squares = worst_error[key, f] = 0
	for (run = 1; run <= runs[key]; run++) {
		x = share(key, run, f)
		own = clock_share(key, run, f)
		ratio = own ? x / own : 0
		sum += x
		ratios += ratio
		squares += ratio * ratio
		errors[key] += abs(x - expected[f])
		worst_error[key, f] = max(worst_error[key, f], abs(x - expected[f]))
		own_worst[key] = max(own_worst[key], abs(x - own))
		if (!weight[key, run, f])
			missing[key]++
	}
	mean = ratios / runs[key]
	variance = runs[key] > 1 ? (squares - ratios * mean) / (runs[key] - 1) : 0
	mean_error[key, f] = sum / runs[key] - expected[f]
	# a function that is never there does not even vary
	cv[key, f] = mean ? sqrt(max(variance, 0)) / mean * 100 : 0
	worst[key] = max(worst[key], worst_error[key, f])
	cv_worst[key] = max(cv_worst[key], cv[key, f])
	cv_sum[key] += cv[key, f]
}

function count_wrong_pairs(key,    run, i, j)
{
	for (run = 1; run <= runs[key]; run++)
		for (i = 1; i <= n_names; i++)
			for (j = 1; j <= n_names; j++)
				if (clock_share(key, run, name[j]) - clock_share(key, run, name[i]) >= 2 &&
				    share(key, run, name[j]) <= share(key, run, name[i]))
					wrong_pairs[key]++
}

function cpu_s(key,    run, sum)
{
	for (run = 1; run <= runs[key]; run++)
		sum += clock_sum_ns[key, run]
	return sum / 1e9
}

function is_ours(engine)
{
	return engine !~ /^(none|gperftools|perf\/.*)$/
}

# The targets, as far as they concern the row; nothing for those of others.
function verdict(engine, rate, key,    met)
{
	if (!is_ours(engine) || rate < 1000)
		return ""
	if (program == "serial")
		met = own_worst[key] <= 0.3 && !wrong_pairs[key]
	else
		met = own_worst[key] <= 0.25 && cv_worst[key] <= 1
	return met ? "met" : "NOT MET"
}

function print_summary(    i, key, part)
{
	printf "%-18s %6s %9s %9s %6s %6s %9s %5s %7s\n", "", "asked", "delivered", "own clock", "worst",
		"mean", "CV, %", "rank", "missing"
	printf "%-18s %6s %9s %9s %6s %6s %9s %5s %7s\n", "engine", "1/s", "1/s", "points", "points",
		"points", "worst/mean", "wrong", ""
	for (i = 1; i <= n_keys; i++) {
		key = order[i]
		split(key, part, SUBSEP)
		printf "%-18s %6d %9.1f %9.2f %6.2f %6.2f %5.1f/%4.1f %5d %7d  %s\n", part[1],
			part[2], samples[key] / cpu_s(key), own_worst[key], worst[key],
			errors[key] / (runs[key] * n_names), cv_worst[key],
			cv_sum[key] / n_names, wrong_pairs[key], missing[key],
			verdict(part[1], part[2], key)
	}
	printf "%-18s %6s %9s %9s %6s %6s %9s %5s\n", "target", "", "",
		program == "serial" ? "<= 0.3" : "<= 0.25", "", "",
		program == "serial" ? "" : "<= 1",
		program == "serial" ? "0" : ""
	for (i = 1; i <= n_skipped; i++)
		printf "%-18s %s\n", skipped[i], reason[skipped[i]]
}

# print_functions TITLE FORMAT TABLE: a row for each engine and rate, a column for each function
function print_functions(title, format, table,    i, j, part)
{
	printf "\n%-25s", title
	for (j = 1; j <= n_names; j++)
		printf " %6s", name[j]
	printf "\n%-25s", "expected, %"
	for (j = 1; j <= n_names; j++)
		printf " %6.2f", expected[name[j]]
	print ""
	for (i = 1; i <= n_keys; i++) {
		split(order[i], part, SUBSEP)
		printf "%-18s %6d", part[1], part[2]
		for (j = 1; j <= n_names; j++)
			printf format, table[order[i], name[j]]
		print ""
	}
}

END {
	for (i = 1; i <= n_keys; i++) {
		for (j = 1; j <= n_names; j++)
			score_function(order[i], name[j])
		count_wrong_pairs(order[i])
	}
	print_summary()
	if (!n_keys)
		exit
	print_functions("error of the mean, points", " %+6.2f", mean_error)
	print_functions("worst error, points", " %6.2f", worst_error)
	print_functions("CV over own clock, %", " %6.1f", cv)
}
