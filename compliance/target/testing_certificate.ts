/** A self-signed certificate, made on the spot: no private key lies in the project. Tests only. */
import { generateKeyPairSync, sign } from 'node:crypto';

/** DER: tag, length, content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}
const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const oid = (...bytes: readonly number[]): Buffer => der(0x06, Buffer.from(bytes));
const text = (tag: number, value: string): Buffer => der(tag, Buffer.from(value));

/** A certificate and its key, as PEM, for `localhost`, valid from 2020 to 2049. */
export function selfSigned(): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const ed25519 = sequence(oid(0x2b, 0x65, 0x70));
  const commonName = sequence(oid(0x55, 0x04, 0x03), text(0x0c, 'localhost'));
  const name = sequence(der(0x31, commonName));
  const alternativeName = sequence(
    oid(0x55, 0x1d, 0x11),
    der(0x04, sequence(text(0x82, 'localhost'))),
  );
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ed25519,
    name,
    sequence(text(0x17, '200101000000Z'), text(0x17, '491231235959Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(alternativeName)),
  );
  const signature = sign(null, toBeSigned, privateKey);
  const whole = sequence(toBeSigned, ed25519, der(0x03, Buffer.from([0]), signature));
  const body = whole.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
