import { openBenchInstallation, type BenchInstallation } from '../installation.ts';
import { startPeer } from '../peer.ts';
import type { BenchRow } from '../row.ts';
import { addEndpoints, endpointSettings, type BenchEndpoint } from './bench-endpoints.ts';
import { BenchSink } from './bench-sink.ts';
import { peerAttempts } from './message-peer.ts';

interface BesidePeer {
  /** Organizations with an endpoint each. */
  readonly endpoints: number;
  /** Statements that make further tables of the other side. */
  readonly tables?: readonly string[];
  /** Jobs of graphile-worker. */
  readonly jobs: NonNullable<Parameters<typeof startPeer>[1]>;
}

interface Sides {
  readonly client: BenchInstallation['client'];
  readonly sink: BenchSink;
  readonly customers: readonly BenchEndpoint[];
}

/** Measures an installation whose worker sends messages to endpoints, beside graphile-worker on the same database. */
export async function besidePeer(
  { endpoints, tables = [], jobs }: BesidePeer,
  measure: (sides: Sides) => Promise<BenchRow[]>,
): Promise<BenchRow[]> {
  const installation = await openBenchInstallation(endpointSettings);
  const { client, databaseUrl } = installation;
  const sink = await BenchSink.start();
  try {
    await installation.startWorker();
    for (const statement of [...tables, peerAttempts]) await client.query(statement);
    const peer = await startPeer(databaseUrl, jobs);
    try {
      const customers = await addEndpoints(installation, endpoints, sink.url);
      return await measure({ client, sink, customers });
    } finally {
      await peer.stop();
    }
  } finally {
    await sink.stop();
    await installation.close();
  }
}
