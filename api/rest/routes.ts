import { registry } from '#entities/index.ts';
import type { Route } from '../route.ts';
import { livez, ready, readyz } from './health.ts';
import { jwks } from './jwks.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { docs, errorDocs, home, openapi } from './reference.ts';
import { recordRoutes } from './records/record-routes.ts';
import { register } from './register.ts';
import { resend } from './resend.ts';
import { switchOrganization } from './switch.ts';
import { verifyPage, verifyScript } from './verify-page.ts';
import { verify } from './verify.ts';

/** Every REST route, in the order of the reference page. */
export const routes: readonly Route[] = [
  livez,
  readyz,
  ready,
  jwks,
  register,
  verify,
  verifyPage,
  verifyScript,
  resend,
  login,
  logout,
  switchOrganization,
  ...recordRoutes(registry),
  home,
  openapi,
  docs,
  errorDocs,
];
