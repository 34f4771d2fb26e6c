import type { Config } from '#config/objects/root.ts';
import type { EmailTheme } from './render.ts';
import { FolderTransport, NoTransport, type EmailTransport } from './transport.ts';

/** The configured way to send mail (`integrations.email`). */
export function emailTransport({ server, integrations }: Config): EmailTransport {
  const { testdir } = integrations.email;
  return server.dev && testdir ? new FolderTransport(testdir) : new NoTransport();
}

export function emailTheme({ integrations }: Config): EmailTheme {
  const { fromemail, supportemail, CompanyName, TroubleText } = integrations.email;
  return { fromEmail: fromemail, companyName: CompanyName, supportEmail: supportemail, troubleText: TroubleText };
}
