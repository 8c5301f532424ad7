// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;

/**
 * Makes the trust store that the package {@code ca-certificates-java} makes when it is installed: {@code TrustStore FOLDER FILE}
 * puts all certificates (*.crt) of a folder into a file, with Java's customary password.
 */
final class TrustStore {
    private TrustStore() {}

    public static void main(String[] arguments) throws IOException, GeneralSecurityException {
        CertificateFactory certificates = CertificateFactory.getInstance("X.509");
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of(arguments[0]), "*.crt")) {
            for (Path file : files) {
                try (InputStream in = Files.newInputStream(file)) {
                    store.setCertificateEntry(file.getFileName().toString(), certificates.generateCertificate(in));
                }
            }
        }
        Path target = Path.of(arguments[1]);
        Files.createDirectories(target.getParent());
        try (OutputStream out = Files.newOutputStream(target)) {
            store.store(out, "changeit".toCharArray());
        }
    }
}
