import { resolve } from 'node:path';
import { shownJson } from '../core/clean-text.ts';
import type { Ports } from '../server/cli-ports.ts';
import type { CliCommand } from './cli-command.ts';
import { print } from './csv/streams.ts';

/** Adds `zomma tls`, which shows how clients can trust the certificate of `--tls internal`. */
export function addTls(program: CliCommand, ports: Ports): void {
  const tls = program.command('tls').description('Show the certificate authority of `zomma serve --tls internal`.');
  tls
    .command('trust')
    .description(
      'Print the certificate authority that `--tls internal` has made in the data folder: its file, its fingerprint, and how to trust it. Whoever trusts it trusts every certificate that the data folder signs, so compare the fingerprint first.',
    )
    .option('--pem', 'print the certificate only, for a file or another machine')
    .json()
    .settings(['dataDir'])
    .examples(
      'zomma tls trust --data-dir /var/lib/zomma',
      'zomma tls trust --pem > zomma.pem',
      'curl --cacert zomma.pem https://127.0.0.1:8080/health',
    )
    .action(async (options) => {
      const { path, pem, fingerprint, notAfterMs, names } = await ports.internalAuthority(options);
      const [file, notAfter] = [resolve(path), new Date(notAfterMs).toISOString()];
      if (options.pem) process.stdout.write(pem);
      else if (options.json) print(shownJson({ path: file, sha256: fingerprint, not_after: notAfter, names, pem }));
      else print(instructions(file, fingerprint, notAfter, names));
    });
}

function instructions(file: string, fingerprint: string, notAfter: string, names: readonly string[] | null): string {
  const signed = names === null ? 'every name' : `${names.join(', ')}, names below these, and addresses`;
  return `authority   ${file}
sha-256     ${fingerprint}
valid until ${notAfter}
may sign    ${signed}

One program:
  curl --cacert ${file} https://…
  NODE_EXTRA_CA_CERTS=${file}      Node.js, Bun, and \`zomma mcp --url\`
  SSL_CERT_FILE=${file}            Python, Go, OpenSSL (in place of the system's authorities)

This whole machine (risk: who gets the authority's key can pass for ${signed} in all its programs):
  Debian, Ubuntu  sudo cp ${file} /usr/local/share/ca-certificates/zomma.crt && sudo update-ca-certificates
  Fedora, RHEL    sudo trust anchor ${file}
  macOS           sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain ${file}
  Windows         certutil -addstore -f ROOT ${file}
  Firefox         Settings, Certificates, View Certificates, Authorities, Import

Another machine: copy the output of \`zomma tls trust --pem\` to it, and compare the fingerprint there:
  openssl x509 -in zomma.pem -noout -fingerprint -sha256`;
}
