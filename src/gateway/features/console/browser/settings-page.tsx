// The settings in effect, and where each value comes from. Secrets are masked before they come here.
import { useEffect, useState } from 'preact/hooks';
import type { ShownSetting, ShownSettings } from '../../../../kernel/config/shown-setting.ts';
import { read } from './api.tsx';
import { Section } from './parts.tsx';
import { route, setQuery } from './route.tsx';
import { Table } from './table.tsx';

export function SettingsPage() {
  const [view, setView] = useState<ShownSettings | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  useEffect(() => {
    read<ShownSettings>('settings').then(setView, (error: Error) => setProblem(error.message));
  }, []);
  if (!view) return <h1>{problem ?? 'Settings'}</h1>;
  const { file, settings, pending } = view;
  return (
    <>
      <h1>Settings</h1>
      <p class="soft intro">
        {file === null
          ? 'A program has made this gateway; its settings are in that program.'
          : `In effect now, of ${file}.`}
      </p>
      {pending.length > 0 && (
        <p class="card warn">Changed in the file, and in effect at the next start: {pending.join(', ')}.</p>
      )}
      {file !== null && <Settings settings={settings} />}
    </>
  );
}

function Settings({ settings }: { settings: readonly ShownSetting[] }) {
  const { query } = route.value;
  const text = query.get('find') ?? '';
  const hasDefaults = query.get('defaults') === 'yes';
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = settings.filter(
    ({ key, value, place, from }) =>
      (hasDefaults || from !== 'default') &&
      words.every((word) => `${key} ${value} ${place ?? ''} ${from}`.toLowerCase().includes(word)),
  );
  const groups = [...new Set(found.map(({ key }) => groupOf(key)))];
  return (
    <>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          <span class="unseen">Find</span>
          <input
            type="search"
            value={text}
            placeholder="Find a setting"
            onInput={({ currentTarget }) => setQuery({ find: currentTarget.value })}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={hasDefaults}
            onChange={({ currentTarget }) => setQuery({ defaults: currentTarget.checked ? 'yes' : '' })}
          />
          with defaults
        </label>
      </form>
      {found.length === 0 && <p class="empty">No setting is like that.</p>}
      {groups.map((group) => (
        <Section key={group} title={group}>
          <Table
            label={group}
            columns={['Setting', 'Value', 'From']}
            rows={found.filter(({ key }) => groupOf(key) === group).map((one) => toRow(one, group))}
          />
        </Section>
      ))}
    </>
  );
}

/** A server by its name, else the top key. */
function groupOf(key: string): string {
  return /^servers(?:\.[\w$-]+|\[[^\]]*\])/.exec(key)?.[0] ?? /^[\w$-]+/.exec(key)?.[0] ?? key;
}

const FROM: Readonly<Record<ShownSetting['from'], string>> = {
  default: 'default',
  file: '',
  'own file': 'your own configuration, ',
  'command line': 'command line, ',
};

function toRow({ key, value, from, place, variables }: ShownSetting, group: string) {
  const rest = key.slice(group.length).replace(/^\./, '');
  return {
    key,
    cells: [
      <bdi class="name">{rest === '' ? key : rest}</bdi>,
      <code class="setting">{value}</code>,
      <span class="source">
        {FROM[from]}
        {place}
        {variables.length > 0 && `, environment variable ${variables.join(', ')}`}
      </span>,
    ],
  };
}
