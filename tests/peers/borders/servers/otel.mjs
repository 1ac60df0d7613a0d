// What a recipe for `serve` registers: the official SDK for Node, with exporters that write a JSON line for each span and each metric to OTEL_FILE.
import { appendFileSync } from 'node:fs';
import { metrics } from '@opentelemetry/api';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';

const write = (line) => appendFileSync(process.env.OTEL_FILE, `${JSON.stringify(line)}\n`);
const done = { code: 0 };

const spans = {
  export(ended, callback) {
    for (const one of ended) {
      const { name, kind, attributes, parentSpanContext, status } = one;
      write({ span: name, kind, attributes, status, parent: parentSpanContext?.spanId, ...one.spanContext() });
    }
    callback(done);
  },
  shutdown: async () => {},
};
const measures = {
  export({ scopeMetrics }, callback) {
    for (const { metrics: all } of scopeMetrics)
      for (const { descriptor, dataPoints } of all)
        for (const { attributes, value } of dataPoints)
          write({ metric: descriptor.name, unit: descriptor.unit, attributes, count: value.count });
    callback(done);
  },
  forceFlush: async () => {},
  shutdown: async () => {},
};

new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }).register();
metrics.setGlobalMeterProvider(
  new MeterProvider({
    readers: [
      new PeriodicExportingMetricReader({ exporter: measures, exportIntervalMillis: 200, exportTimeoutMillis: 100 }),
    ],
  }),
);
