// lod.js - lanes of intervals, and how to draw millions of them into a few pixels.
//
// A lane is a run lo..hi of intervals in arrays shared by all lanes: s[i] its start, v[i] its
// value (a state, or a colour + 1), its end s[i + 1], or e[i] where intervals have holes between
// them.  Above the intervals stand levels: node j of level k covers the intervals
// lo + j * 4^k and on, and says which value has most time in it and which classes occur.

function laneMake(s, e, v, lo, hi, mask) {
	const lane = {s, e, v, lo, hi, mask, levels: []};
	let n = hi - lo;
	let below = null;

	while (n > 8) {
		below = levelMake(lane, below, n);
		lane.levels.push(below);
		n = below.n;
	}
	return lane;
}

function laneEnd(lane, i) {
	return lane.e ? lane.e[i] : lane.s[i + 1];
}

// One level up: four nodes (or intervals) to one.
function levelMake(lane, below, nBelow) {
	const n = Math.ceil(nBelow / 4);
	const level = {n, value: new Uint8Array(n), time: new Float32Array(n), mask: new Uint8Array(n)};
	const values = [0, 0, 0, 0], times = [0, 0, 0, 0];

	for (let j = 0; j < n; j++) {
		const first = j * 4, last = Math.min(first + 4, nBelow);
		let mask = 0, best = 0;
		for (let i = first; i < last; i++) {
			const k = i - first;
			if (below) {
				values[k] = below.value[i];
				times[k] = below.time[i];
				mask |= below.mask[i];
			} else {
				values[k] = lane.v[lane.lo + i] & 127;
				times[k] = laneEnd(lane, lane.lo + i) - lane.s[lane.lo + i];
				mask |= lane.mask[values[k]];
			}
			for (let m = 0; m < k; m++)
				if (values[m] === values[k]) {
					times[m] += times[k];
					times[k] = 0;
					break;
				}
		}
		for (let k = 1; k < last - first; k++)
			if (times[k] > times[best])
				best = k;
		level.value[j] = values[best];
		level.time[j] = times[best];
		level.mask[j] = mask;
	}
	return level;
}

// The intervals that touch [t0, t1): indices [first, last).
function laneRange(lane, t0, t1) {
	let first = upperBound(lane.s, lane.lo, lane.hi, t0) - 1;

	if (first < lane.lo || laneEnd(lane, first) <= t0)
		first++;
	let last = upperBound(lane.s, first, lane.hi, t1);
	while (last > first && lane.s[last - 1] >= t1)
		last--;
	return [first, last];
}

const IMPORTANT = 1 << 3; // CLASS.LOCK

// Columns compete: the value with most time in a pixel column takes it.
const columnTime = new Float64Array(256);
const columnTouched = new Uint8Array(256);

// Fills row[0..w) with the value of each pixel column (0 where there is nothing) and
// marks[0..w) with 1 where an important class hides behind a value that is not of it.  If `sums`
// is given, sums[value * w + column] grows by the share of the column with that value.
function lanePaint(lane, t0, t1, w, row, marks, sums) {
	const scale = w / (t1 - t0);
	const [first, last] = laneRange(lane, t0, t1);
	const n = lane.hi - lane.lo;
	let col = -1, touched = 0, mask = 0;

	row.fill(0, 0, w);
	marks.fill(0, 0, w);

	function flush() {
		let best = -1, value = 0;
		for (let k = 0; k < touched; k++) {
			const v = columnTouched[k];
			if (columnTime[v] > best) {
				best = columnTime[v];
				value = v;
			}
			if (sums && col >= 0 && col < w)
				sums[v * w + col] += columnTime[v];
			columnTime[v] = 0;
		}
		if (col >= 0 && col < w) {
			row[col] = value;
			if (mask & IMPORTANT && !(lane.mask[value] & IMPORTANT))
				marks[col] = 1;
		}
		touched = 0;
		mask = 0;
	}

	function add(c, value, share, m) {
		if (c !== col) {
			flush();
			col = c;
		}
		if (columnTime[value] === 0)
			columnTouched[touched++] = value;
		columnTime[value] += share + 1e-12;
		mask |= m;
	}

	for (let i = first - lane.lo; i < last - lane.lo;) {
		// The largest node that begins here and is no wider than a pixel.
		let k = 0, size = 1, value = lane.v[lane.lo + i] & 127, m = lane.mask[value];
		const start = lane.s[lane.lo + i];
		let end = laneEnd(lane, lane.lo + i);
		while (k < lane.levels.length && i % (size * 4) === 0) {
			const until = Math.min(i + size * 4, n);
			const wide = laneEnd(lane, lane.lo + until - 1);
			if ((wide - start) * scale > 1)
				break;
			size *= 4;
			end = wide;
			value = lane.levels[k].value[i / size];
			m = lane.levels[k].mask[i / size];
			k++;
		}
		i += size;

		const x0 = Math.max((start - t0) * scale, 0), x1 = Math.min((end - t0) * scale, w);
		const c0 = Math.floor(x0), c1 = Math.floor(x1);
		if (c0 === c1) {
			add(c0, value, x1 - x0, m);
			continue;
		}
		add(c0, value, c0 + 1 - x0, m);
		if (c1 - c0 > 1) {
			flush();
			row.fill(value, c0 + 1, Math.min(c1, w));
			for (let c = c0 + 1; sums && c < Math.min(c1, w); c++)
				sums[value * w + c]++;
			col = -1;
		}
		if (x1 > c1)
			add(c1, value, x1 - c1, m);
	}
	flush();
}

// Exact time by value in [t0, t1), into sums[value].
function laneSums(lane, t0, t1, sums) {
	const [first, last] = laneRange(lane, t0, t1);

	for (let i = first; i < last; i++)
		sums[lane.v[i] & 127] += Math.min(laneEnd(lane, i), t1) - Math.max(lane.s[i], t0);
}

// The interval at time t, or the longest within `slack` of it; -1 if there is none.  Looks at
// no more than 4,096 of them.
function lanePick(lane, t, slack) {
	const [first, last] = laneRange(lane, t - slack, t + slack);
	let best = -1, bestScore = -1;

	for (let i = first; i < Math.min(last, first + 4096); i++) {
		const end = laneEnd(lane, i);
		const wide = end - lane.s[i] >= 2 * slack;
		if (!(lane.v[i] & 127))
			continue;
		if (wide && (t < lane.s[i] || t >= end))
			continue;
		const weight = lane.mask[lane.v[i] & 127] & IMPORTANT ? 2 : 1;
		const score = weight * Math.min(end - lane.s[i], 2 * slack);
		if (score > bestScore) {
			best = i;
			bestScore = score;
		}
	}
	return {index: best, among: last - first};
}
