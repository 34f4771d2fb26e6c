import { eventually } from '../kit/eventually.ts';
import { ProductProcess } from '../kit/processes/spawned-process.ts';
import { openApiInstallation, type ApiInstallation } from './api-installation.ts';
import { duel } from './duel.ts';
import type { LoadRequest } from './load-generator.ts';
import type { BenchRow } from './row.ts';

type Settings = Readonly<Record<string, string>>;

interface SwitchedDuel {
  readonly name: string;
  /** `CORE_…` variables of the process that is measured. */
  readonly on: Settings;
  readonly note: string;
  readonly say: (line: string) => void;
}

/** An installation with two API processes of one database. Each comparison has a process of its own. */
export class SwitchedApi {
  readonly installation: ApiInstallation;

  private constructor(installation: ApiInstallation) {
    this.installation = installation;
  }

  /** @param off `CORE_…` variables of the installation, of which the reference is a process */
  static async open(off: Settings = {}): Promise<SwitchedApi> {
    return new SwitchedApi(await openApiInstallation(off));
  }

  /** Compares a process that has further settings with the one of the installation. */
  async duel(
    { name, on, note, say }: SwitchedDuel,
    requests: readonly LoadRequest[],
    reference = requests,
  ): Promise<BenchRow[]> {
    const switched = new ProductProcess({
      program: 'api/api-main.ts',
      environment: { ...this.installation.environment, ...on },
      isSilent: true,
    });
    try {
      await switched.ready;
      await eventually(() => switched.url !== '');
      return await duel({
        name,
        ours: { url: switched.url, requests },
        reference: { url: this.installation.url, requests: reference },
        note,
        say,
      });
    } finally {
      await switched.stop();
    }
  }

  close(): Promise<void> {
    return this.installation.close();
  }
}
