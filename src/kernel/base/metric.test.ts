import { expect, it } from 'vitest';
import { writeFamilies } from './metric.ts';
import { parseMetrics } from './parse-metrics.contract.ts';

it('a metric is read back by a parser, whatever a label says', () => {
  const labels = { server: 'a "b" \\ c\nd', state: '' };
  const text = writeFamilies([
    { name: 'one', help: 'First.', type: 'gauge', samples: [{ labels, value: 1.5 }] },
    {
      name: 'two',
      help: 'Second.',
      type: 'histogram',
      samples: [{ suffix: '_bucket', labels: { le: '+Inf' }, value: 2 }],
    },
    { name: 'none', help: 'Nothing yet.', type: 'counter', samples: [] },
  ]);
  expect(text.split('\n').slice(0, 3)).toEqual([
    '# HELP one First.',
    '# TYPE one gauge',
    'one{server="a \\"b\\" \\\\ c\\nd",state=""} 1.5',
  ]);
  expect(parseMetrics(text)).toEqual({
    one: { 'server=a \\"b\\" \\\\ c\\nd,state=': 1.5 },
    two_bucket: { 'le=+Inf': 2 },
  });
});
