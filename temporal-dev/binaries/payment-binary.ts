import type { BinarySpec } from './binary-spec.ts';
import { pinnedGo } from './pinned-go.ts';

/** The payment provider's own server for tests, which checks requests against its published description. For `npm run prove`. */
export const paymentBinary: BinarySpec = {
  name: 'payment',
  title: 'stripe-mock',
  version: '0.203.0',
  variable: 'STACK_PAYMENT_BIN',
  commands: ['stripe-mock'],
  accepted: { from: '0.203', below: '1' },
  versionArguments: ['-version'],
  versionPattern: /stripe-mock v?(\d+\.\d+\.\d+)/,
  official: { page: 'https://github.com/stripe/stripe-mock/releases/tag/v0.203.0', assets: {} },
  goModule: {
    directory: 'payment',
    package: 'github.com/stripe/stripe-mock',
    versionVariable: 'main.version',
    oldestGo: '1.25',
    toolchain: pinnedGo,
  },
  remedy: () => 'sudo apt-get install -y python3-pip',
};
