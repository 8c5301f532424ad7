// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.KeyStoreException;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/**
 * Makes the trust store that the package {@code ca-certificates-java} makes when it is installed: {@code TrustStore FILE SOURCE...}
 * puts the certificates of all sources, each a file with any number of them or a folder of such files (*.crt), into a file,
 * with Java's customary password.
 */
final class TrustStore {
    private TrustStore() {}

    public static void main(String[] arguments) throws IOException, GeneralSecurityException {
        CertificateFactory certificates = CertificateFactory.getInstance("X.509");
        // Java reads its trust store without a password, and in the newer format would then find no certificate.
        KeyStore store = KeyStore.getInstance("JKS");
        store.load(null, null);
        for (String source : List.of(arguments).subList(1, arguments.length)) {
            for (Path file : files(Path.of(source))) {
                try (InputStream in = Files.newInputStream(file)) {
                    for (Certificate certificate : certificates.generateCertificates(in)) {
                        if (store.getCertificateAlias(certificate) == null) {
                            store.setCertificateEntry("ca" + store.size(), certificate);
                        }
                    }
                }
            }
        }
        Path target = Path.of(arguments[0]);
        Files.createDirectories(target.getParent());
        try (OutputStream out = Files.newOutputStream(target)) {
            store.store(out, "changeit".toCharArray());
        }
        if (trusted(target) != store.size() || store.size() == 0) {
            throw new KeyStoreException("of " + store.size() + " certificates Java finds " + trusted(target));
        }
    }

    private static List<Path> files(Path source) throws IOException {
        if (!Files.isDirectory(source)) {
            return List.of(source);
        }
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(source, "*.crt")) {
            all.forEach(files::add);
        }
        return files;
    }

    /** How many certificates Java's own trust manager finds in such a file. */
    private static int trusted(Path file) throws IOException, GeneralSecurityException {
        System.setProperty("javax.net.ssl.trustStore", file.toString());
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init((KeyStore) null);
        return ((X509TrustManager) factory.getTrustManagers()[0]).getAcceptedIssuers().length;
    }
}
