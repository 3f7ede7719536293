// lod.js - lanes of intervals, and how to draw millions of them into a few pixels.
//
// A lane is a run lo..hi of intervals in arrays shared by all lanes: s[i] its start, v[i] its
// value (a state, or a colour + 1), its end s[i + 1], or e[i] where intervals have holes between
// them.  locks[value] says which values are waits for locks; it is null where none are.  Above the
// intervals stand levels: node j of level k covers the intervals lo + j * 4^k and on.  It says which
// value has most time in it, waits for locks apart, and of these which has most, and the time of
// them all.

function laneMake(s, e, v, lo, hi, locks) {
	const lane = {s, e, v, lo, hi, locks, levels: []};
	let n = hi - lo;
	let below = null;

	while (n > 8) {
		const level = levelMake(lane, below, n);
		if (below)
			below.time = null; // only the level above needs it
		lane.levels.push(level);
		below = level;
		n = level.n;
	}
	return lane;
}

function laneEnd(lane, i) {
	return lane.e ? lane.e[i] : lane.s[i + 1];
}

// The times of up to four values.
const tallyMake = () => ({n: 0, values: [0, 0, 0, 0], times: [0, 0, 0, 0]});

function tallyAdd(tally, value, time) {
	for (let k = 0; k < tally.n; k++)
		if (tally.values[k] === value) {
			tally.times[k] += time;
			return;
		}
	tally.values[tally.n] = value;
	tally.times[tally.n++] = time;
}

// Which has most; -1 if it is empty.
function tallyBest(tally) {
	let best = tally.n - 1;

	for (let k = 0; k < tally.n; k++)
		if (tally.times[k] > tally.times[best])
			best = k;
	return best;
}

const others = tallyMake(), waits = tallyMake();

// One level up: four nodes (or intervals) to one.
function levelMake(lane, below, nBelow) {
	const n = Math.ceil(nBelow / 4), {locks, lo} = lane;
	const level = {n, value: new Uint8Array(n), time: new Float32Array(n),
		lock: locks && new Uint8Array(n), lockTime: locks && new Float32Array(n)};

	for (let j = 0; j < n; j++) {
		const last = Math.min(j * 4 + 4, nBelow);
		others.n = waits.n = 0;
		for (let i = j * 4; i < last; i++) {
			if (below) {
				tallyAdd(others, below.value[i], below.time[i]);
				if (locks && below.lockTime[i])
					tallyAdd(waits, below.lock[i], below.lockTime[i]);
			} else {
				const value = lane.v[lo + i] & 127;
				tallyAdd(locks && locks[value] ? waits : others, value,
					laneEnd(lane, lo + i) - lane.s[lo + i]);
			}
		}
		const best = tallyBest(others), most = tallyBest(waits);
		level.value[j] = best < 0 ? 0 : others.values[best];
		level.time[j] = best < 0 ? 0 : others.times[best];
		if (most < 0)
			continue;
		level.lock[j] = waits.values[most];
		for (let k = 0; k < waits.n; k++)
			level.lockTime[j] += waits.times[k];
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

// What lanePaint() fills.
function paintMake(w) {
	return {row: new Uint8Array(w), lockRow: new Uint8Array(w), lockShare: new Float32Array(w)};
}

// Columns compete: the value with most time in a pixel column takes it, waits for locks apart.
const columnTime = new Float64Array(256);
const columnTouched = new Uint8Array(256);

// Fills, of `paint`, row[0..w) with the value of each pixel column (0 where there is nothing), lockRow[0..w) with
// the lock that was waited for (0: none) and lockShare[0..w) with the part of the column's time in
// which one was.  If `sums` is given, sums[value * w + column] grows by the share of the column with
// that value.
function lanePaint(lane, t0, t1, w, paint, sums) {
	const {row, lockRow, lockShare} = paint, {locks} = lane;
	const scale = w / (t1 - t0);
	const [first, last] = laneRange(lane, t0, t1);
	const n = lane.hi - lane.lo;
	let col = -1, touched = 0;

	row.fill(0, 0, w);
	lockRow.fill(0, 0, w);
	lockShare.fill(0, 0, w);

	function flush() {
		let best = -1, value = 0, most = -1, lock = 0, locked = 0, all = 0;
		for (let k = 0; k < touched; k++) {
			const v = columnTouched[k], time = columnTime[v];
			all += time;
			if (locks && locks[v]) {
				locked += time;
				if (time > most) {
					most = time;
					lock = v;
				}
			} else if (time > best) {
				best = time;
				value = v;
			}
			if (sums && col >= 0 && col < w)
				sums[v * w + col] += time;
			columnTime[v] = 0;
		}
		if (col >= 0 && col < w) {
			row[col] = value;
			lockRow[col] = lock;
			lockShare[col] = lock ? locked / all : 0;
		}
		touched = 0;
	}

	function addTime(value, time) {
		if (columnTime[value] === 0)
			columnTouched[touched++] = value;
		columnTime[value] += time + 1e-12;
	}

	// A part of column c, in which `value` is found, and `lock` in a share of it.
	function add(c, part, value, lock, locked) {
		if (c !== col) {
			flush();
			col = c;
		}
		if (locked < 1)
			addTime(value, part * (1 - locked));
		if (locked > 0)
			addTime(lock, part * locked);
	}

	function whole(c0, c1, value) {
		if (locks && locks[value]) {
			lockRow.fill(value, c0, c1);
			lockShare.fill(1, c0, c1);
		} else {
			row.fill(value, c0, c1);
		}
		for (let c = c0; sums && c < c1; c++)
			sums[value * w + c]++;
	}

	for (let i = first - lane.lo; i < last - lane.lo;) {
		// The largest node that begins here and is no wider than a pixel.
		let k = 0, size = 1, value = lane.v[lane.lo + i] & 127;
		const start = lane.s[lane.lo + i];
		let end = laneEnd(lane, lane.lo + i);
		while (k < lane.levels.length && i % (size * 4) === 0) {
			const until = Math.min(i + size * 4, n);
			const wide = laneEnd(lane, lane.lo + until - 1);
			if ((wide - start) * scale > 1)
				break;
			size *= 4;
			end = wide;
			k++;
		}
		let lock = 0, locked = 0; // of a node: its share
		if (k) {
			const level = lane.levels[k - 1], j = i / size;
			value = level.value[j];
			if (locks && level.lockTime[j]) {
				lock = level.lock[j];
				locked = level.lockTime[j] / (end - start);
				if (locked > 0.9999) // but for rounding
					locked = 1;
			}
		}
		i += size;

		const x0 = Math.max((start - t0) * scale, 0), x1 = Math.min((end - t0) * scale, w);
		const c0 = Math.floor(x0), c1 = Math.floor(x1);
		if (c0 === c1) {
			add(c0, x1 - x0, value, lock, locked);
			continue;
		}
		add(c0, c0 + 1 - x0, value, lock, locked);
		if (c1 - c0 > 1) {
			flush();
			whole(c0 + 1, Math.min(c1, w), value);
			col = -1;
		}
		if (x1 > c1)
			add(c1, x1 - c1, value, lock, locked);
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
		const weight = lane.locks && lane.locks[lane.v[i] & 127] ? 2 : 1;
		const score = weight * Math.min(end - lane.s[i], 2 * slack);
		if (score > bestScore) {
			best = i;
			bestScore = score;
		}
	}
	return {index: best, among: last - first};
}
