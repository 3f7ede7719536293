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
# A share is of all the weight in the profile.  An error is in percentage points.  Of the runs
# of one engine at one rate:
#
#   worst       the largest error of any function in any run
#   mean        the mean of all errors without their signs
#   CV          standard deviation over mean of a function's share from run to run, in per cent:
#               the worst function's, and the mean of all
#   rank        pairs of functions whose expected shares are 2 points or more apart and that
#               do not come in that order, in all runs
#   missing     functions without a sample, in all runs
#   own clock   like worst, but against the share by the program's own clock in the same run
#
# Targets: of concurrent, worst <= 0.5 and CV <= 3; of serial at 1,000 Hz and above, worst <= 1
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
function score_function(key, f,    run, x, sum, squares, mean, variance)
{
	sum = squares = worst_error[key, f] = 0
	for (run = 1; run <= runs[key]; run++) {
		x = share(key, run, f)
		sum += x
		squares += x * x
		errors[key] += abs(x - expected[f])
		worst_error[key, f] = max(worst_error[key, f], abs(x - expected[f]))
		own_worst[key] = max(own_worst[key], abs(x - clock_share(key, run, f)))
		if (!weight[key, run, f])
			missing[key]++
	}
	mean = sum / runs[key]
	variance = runs[key] > 1 ? (squares - sum * mean) / (runs[key] - 1) : 0
	mean_error[key, f] = mean - expected[f]
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
				if (expected[name[j]] - expected[name[i]] >= 2 &&
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
	if (!is_ours(engine) || (program == "serial" && rate < 1000))
		return ""
	if (program == "serial")
		met = worst[key] <= 1 && !wrong_pairs[key]
	else
		met = worst[key] <= 0.5 && cv_worst[key] <= 3
	return met ? "met" : "NOT MET"
}

function print_summary(    i, key, part)
{
	printf "%-18s %6s %9s %6s %6s %9s %5s %7s %9s\n", "", "asked", "delivered", "worst",
		"mean", "CV, %", "rank", "missing", "own clock"
	printf "%-18s %6s %9s %6s %6s %9s %5s %7s %9s\n", "engine", "1/s", "1/s", "points",
		"points", "worst/mean", "wrong", "", "points"
	for (i = 1; i <= n_keys; i++) {
		key = order[i]
		split(key, part, SUBSEP)
		printf "%-18s %6d %9.1f %6.2f %6.2f %5.1f/%4.1f %5d %7d %9.2f  %s\n", part[1],
			part[2], samples[key] / cpu_s(key), worst[key],
			errors[key] / (runs[key] * n_names), cv_worst[key],
			cv_sum[key] / n_names, wrong_pairs[key], missing[key], own_worst[key],
			verdict(part[1], part[2], key)
	}
	printf "%-18s %6s %9s %6s %6s %9s %5s\n", "target", "", "",
		program == "serial" ? "<= 1" : "<= 0.5", "",
		program == "serial" ? "" : "<= 3",
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
	print_functions("CV from run to run, %", " %6.1f", cv)
}
