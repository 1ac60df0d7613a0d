// The process itself, under the names of prom-client, which dashboards and alerts for Node already use; and which build it runs.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { IntervalHistogram } from 'node:perf_hooks';
import type { Family } from '../../../kernel/base/metric.ts';
import { version } from '../../../kernel/version.ts';

const RESOLUTION_MS = 20;

export class ProcessFamilies {
  /** Started when somebody looks for the first time: a gateway that nobody watches needs no timer for it. */
  #delay: IntervalHistogram | undefined;

  families(): Family[] {
    const { user, system } = process.cpuUsage();
    const memory = process.memoryUsage();
    return [
      gauge('parley_build_info', 'Which build runs; always 1.', 1, { version: version(), node: process.versions.node }),
      counter('process_cpu_user_seconds_total', 'User CPU time.', user / 1e6),
      counter('process_cpu_system_seconds_total', 'System CPU time.', system / 1e6),
      counter('process_cpu_seconds_total', 'User and system CPU time.', (user + system) / 1e6),
      gauge('process_start_time_seconds', 'When the process started, in seconds since 1970.', startedAt()),
      gauge('process_resident_memory_bytes', 'Resident memory.', memory.rss),
      gauge('nodejs_heap_size_total_bytes', 'Size of the heap.', memory.heapTotal),
      gauge('nodejs_heap_size_used_bytes', 'Used part of the heap.', memory.heapUsed),
      gauge('nodejs_external_memory_bytes', 'Memory of objects outside of the heap.', memory.external),
      ...this.#lag(),
    ];
  }

  /** Since the last look. */
  #lag(): Family[] {
    if (!this.#delay) {
      this.#delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      this.#delay.enable();
    }
    const delay = this.#delay;
    const seconds = (ns: number): number => (Number.isFinite(ns) && delay.count > 0 ? Math.max(0, ns / 1e9) : 0);
    const made = [
      gauge(
        'nodejs_eventloop_lag_mean_seconds',
        'Mean delay of the event loop since the last scrape.',
        seconds(delay.mean),
      ),
      gauge('nodejs_eventloop_lag_p50_seconds', 'Its median.', seconds(delay.percentile(50))),
      gauge('nodejs_eventloop_lag_p99_seconds', 'Its 99th percentile.', seconds(delay.percentile(99))),
      gauge('nodejs_eventloop_lag_max_seconds', 'Its maximum.', seconds(delay.max)),
    ];
    // A histogram that is reset before its second tick counts nothing, so one that is looked at all the time would stay at zero.
    if (delay.count > 0) delay.reset();
    return made;
  }
}

function startedAt(): number {
  return Math.round(performance.timeOrigin) / 1000;
}

function gauge(name: string, help: string, value: number, labels: Record<string, string> = {}): Family {
  return { name, help, type: 'gauge', samples: [{ labels, value }] };
}

function counter(name: string, help: string, value: number): Family {
  return { name, help, type: 'counter', samples: [{ labels: {}, value }] };
}
