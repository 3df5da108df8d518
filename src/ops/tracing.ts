import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { SettingError } from '../core/errors.ts';
import type { Observe } from '../core/events.ts';
import { parseTraceparent, type RequestSpan, type RequestTracing } from '../core/trace-context.ts';
import type { Scheduler } from '../operations/engine/scheduler.ts';

/** The environment variables of the process. The exporter and the resource of OpenTelemetry read variables directly from the process. */
export type TracingEnv = Readonly<Record<string, string | undefined>>;

/** Creates spans for requests and their work, and sends the spans to a collector. */
export interface Tracing extends RequestTracing {
  /** Returns a scheduler that creates a span for every job of a request. */
  traced(scheduler: Scheduler): Scheduler;
  stop(): Promise<void>;
}

/** Maximum number of spans that wait for the collector. Further spans are dropped. A span takes some 1.5 KB. */
const QUEUE_MAX = 4_096;
const BATCH_MAX = 512;
/** Time between two batches of spans, ms. */
const SEND_EVERY_MS = 2_000;

/**
 * Starts tracing with the settings of OpenTelemetry's environment variables. Spans are sent in the background, and lost if the collector
 * does not answer. `version` is the version of the service. Throws `SettingError` if the value of a variable is not supported.
 */
export function startTracing(env: TracingEnv, version: string, observe: Observe): Tracing {
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol && protocol !== 'http/json') {
    throw new SettingError(
      `OTEL_EXPORTER_OTLP_PROTOCOL "${protocol}" is not supported`,
      'Use http/json, which every collector accepts at its port for HTTP, usually 4318.',
    );
  }
  const exporter = withWarnings(new OTLPTraceExporter(), observe);
  const provider = new TracerProvider({
    sampler: samplerOf(env),
    // If the environment variables name the service, their name replaces `zomma`.
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'zomma', 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: QUEUE_MAX,
        maxExportBatchSize: BATCH_MAX,
        scheduledDelayMillis: SEND_EVERY_MS,
      }),
    ],
  });
  const tracer = provider.getTracer('zomma', version);
  const running = new AsyncLocalStorage<{ readonly context: Context; readonly request: RequestSpan }>();

  return {
    inRequest(headers, work) {
      // The span gets its final name when the route is known.
      const span = tracer.startSpan('request', { kind: SpanKind.SERVER }, contextOf(headers));
      const context = trace.setSpan(ROOT_CONTEXT, span);
      return running.run({ context, request: requestSpanOf(span) }, work);
    },
    current: () => running.getStore()?.request,
    traced(scheduler) {
      return {
        assertCapacity: scheduler.assertCapacity,
        async run(job) {
          const parent = running.getStore()?.context;
          if (!parent) return scheduler.run(job);
          const span = tracer.startSpan(job.name, { attributes: { 'zomma.operation': job.name } }, parent);
          try {
            return await scheduler.run(job);
          } catch (error) {
            // The span omits the message of the error, because the message may contain names from a caller.
            const { name } = error as Error;
            span.setAttribute('error.type', name).setStatus({ code: SpanStatusCode.ERROR });
            throw error;
          } finally {
            span.end();
          }
        },
        get size() {
          return scheduler.size;
        },
      };
    },
    stop: () => provider.shutdown().catch(() => {}),
  };
}

function contextOf(headers: Headers): Context {
  const sender = parseTraceparent(headers.get('traceparent'));
  if (!sender) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = sender;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** Returns a span with OpenTelemetry's attributes for HTTP. Spans have the route instead of the path, as the log does. */
function requestSpanOf(span: Span): RequestSpan {
  return {
    traceId: span.spanContext().traceId,
    end({ method, route, status, client, bytes, request_id, account }) {
      span.updateName(`${method} ${route}`);
      span.setAttributes({
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
        'client.address': client,
        'zomma.request_id': request_id,
        ...(bytes !== undefined && { 'http.response.body.size': bytes }),
        ...(account !== undefined && { 'enduser.pseudo.id': account }),
        ...(status >= 500 && { 'error.type': String(status) }),
      });
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** After several failed batches in a row, only the first failure is reported. */
function withWarnings(exporter: OTLPTraceExporter, observe: Observe): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const { code, error } = result;
        if (code !== 0 && !isFailing) {
          observe({ kind: 'traces_unsent', reason: error?.message || 'The collector refused the spans.' });
        }
        isFailing = code !== 0;
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

/** Returns the sampler that OTEL_TRACES_SAMPLER names. Throws `SettingError` if the name of the sampler is unknown. */
function samplerOf({ OTEL_TRACES_SAMPLER: name = '', OTEL_TRACES_SAMPLER_ARG: arg }: TracingEnv): Sampler {
  const [, parentBased, kind] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(
    name || 'parentbased_always_on',
  ) ?? ['', '', ''];
  const ratio = arg ? Number(arg) : 1;
  if (!kind || !(ratio >= 0 && ratio <= 1)) {
    throw new SettingError(
      kind ? `OTEL_TRACES_SAMPLER_ARG "${arg}" is not a share` : `OTEL_TRACES_SAMPLER "${name}" is not supported`,
      'Use e.g. OTEL_TRACES_SAMPLER=parentbased_traceidratio with OTEL_TRACES_SAMPLER_ARG=0.1 for a tenth of the traces.',
    );
  }
  const root =
    kind === 'always_on'
      ? new AlwaysOnSampler()
      : kind === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
  return parentBased ? new ParentBasedSampler({ root }) : root;
}
