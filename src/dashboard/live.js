// ---- the page ----
// Asks once a second for what is new and draws it; asks for nothing else, and changes nothing.
const kAskEvery = 1000;
const numbers = new Intl.NumberFormat('en');
const whole = n => numbers.format(n);
const clock = s => {
  if (s == null) return '-';
  if (s < 60) return seconds(s);
  const m = Math.floor(s / 60), two = n => String(n).padStart(2, '0');
  return m < 60 ? `${m}:${two(Math.floor(s % 60))} min` : `${Math.floor(m / 60)}:${two(m % 60)} h`;
};

const tile = (label, value, unit_text, more) => html('div', {class: 'tile'}, html('div', {class: 'label'}, label),
  html('div', {class: 'value'}, value, html('small', {}, unit_text ? ' ' + unit_text : '')), html('div', {class: 'more'}, more));

const draw_tiles = () => {
  const {now, scheme, run} = store.told;
  const [value, name] = clock(now.elapsed).split(' ');
  const per_job = now.jobs ? now.elapsed / now.jobs : null;
  const [job, job_unit] = seconds(per_job).split(' ');
  const saved = now.slowest == null ? null : now.slowest - now.elapsed;
  const [won, won_unit] = saved == null ? ['-', ''] : clock(Math.max(0, saved)).split(' ');
  at('tiles').replaceChildren(
    tile('jobs decoded', whole(now.jobs), `of ${whole(scheme.jobs)}`, `${whole(now.rounds)} rounds`),
    tile('time', value, name, now.left == null ? 'time left not known yet' : `about ${clock(now.left)} left` +
         (scheme.predicted == null ? '' : `, predicted ${clock(scheme.predicted)}`)),
    tile('time per job', job, job_unit, now.rounds ? `newest round ${seconds(now.roundSeconds)}` : ''),
    tile('stragglers', now.rounds ? digits(now.meanStragglers) : '-', `of ${run.workers}`,
         now.rounds ? `newest round ${now.stragglers}` + (now.waitOuts ? `, ${whole(now.waitOuts)} rounds waited out` : '') : ''),
    tile('won against waiting for all', won, won_unit,
         saved == null ? 'known with injected delays' : `${(100 * saved / (now.slowest || 1)).toFixed(0)} % less than ${clock(now.slowest)}`),
    tile('times the clairvoyant limit', now.limit ? (now.elapsed / now.limit).toFixed(2) : '-', '',
         now.limit ? `${clock(now.limit)} for the same jobs` : 'not known here'));
};

const draw_header = () => {
  const {run, scheme, now} = store.told;
  const playing = scheme.number > 0 && !scheme.ended;
  at('title').textContent = run.title || 'Paceline';
  document.title = playing ? `${scheme.jobs ? Math.floor(100 * now.jobs / scheme.jobs) : 0} % - ${run.title}` : run.title || 'Paceline';
  at('label').textContent = scheme.playing || (run.title ? 'preparing the first scheme' : 'preparing');
  at('number').textContent = scheme.schemes > 1 ? `scheme ${scheme.number} of ${scheme.schemes}` : '';
  const done = scheme.jobs ? 100 * now.jobs / scheme.jobs : 0;
  at('done').style.width = `${done}%`;
  at('bar').setAttribute('aria-valuenow', Math.round(done));
  at('facts').replaceChildren(...[['Command', run.command], ['Run directory', run.directory]].filter(([, value]) => value)
    .flatMap(([name, value]) => [html('dt', {}, name), html('dd', {}, html('code', {}, value))]),
    html('dt', {}, 'For Prometheus'), html('dd', {}, html('code', {}, '/metrics')));
};

const list_before = () => {
  const {before} = store.told;
  at('before').hidden = !before.length;
  at('before').querySelector('tbody').replaceChildren(...before.map(s => row([
    html('span', {class: 'scheme'}, s.label), whole(s.jobs) + (s.whole ? '' : ' (ended early)'), whole(s.rounds), clock(s.elapsed),
    s.jobs ? seconds(s.elapsed / s.jobs) : '-', clock(s.slowest), clock(s.limit)])));
};

const show_state = (kind, words) => {
  at('state').className = `state ${kind}`;
  at('state').textContent = words;
};

const parts = [draw_header, draw_tiles, draw_heat, draw_scores, list_slowest, draw_losses, draw_won, list_before];
let drawings = 0;
const draw = () => {
  ++drawings;
  for (const part of parts) part();
};

// The first update meets code that the browser has not compiled yet and makes the line charts, which would take a tenth
// of a second in one go: it is drawn in pieces, between which the page answers its reader. What is drawn anew meanwhile,
// in another width say, replaces it.
const draw_in_pieces = async began => {
  const number = ++drawings;
  for (const part of parts) {
    performance.measure('paceline piece', {start: began, end: performance.now()});
    await new Promise(done => setTimeout(done));
    if (number !== drawings) return;
    began = performance.now();
    part();
  }
  performance.measure('paceline piece', {start: began, end: performance.now()});
};

// What the server says, or null.
const fetched = async () => {
  try {
    const reply = await fetch(question(), {signal: AbortSignal.timeout(5000), cache: 'no-store'});
    return reply.ok ? await reply.json() : null;
  } catch {
    return null;
  }
};

let answered = null;
const show_lost = lost => {
  at('lost').hidden = !lost;
  if (!lost) return;
  show_state('off', 'no answer');
  at('lost').textContent = 'The run has ended, or the connection is lost. ' + (!answered ? '' :
    `This is how it stood at ${answered.toLocaleTimeString()}` +
    (store.told.run.directory ? `; all of it is in ${store.told.run.directory}/report.html.` : '.'));
};

const update = async () => {
  const told = await fetched();
  setTimeout(update, kAskEvery);
  show_lost(!told);
  if (!told) return;
  answered = new Date();
  performance.clearMeasures();
  const start = performance.now();
  take(told);
  if (drawings === 0) {
    await redraw(() => draw_in_pieces(start));
  } else {
    redraw(draw);
    performance.measure('paceline update', {start, end: performance.now()});
  }
  const {scheme} = store.told;
  show_state('on', scheme.number === 0 ? 'preparing' : !scheme.ended ? 'running'
                   : scheme.number < scheme.schemes ? 'between two schemes' : 'ending');
};
keep_drawn(() => redraw(draw), 'heat');
update();
