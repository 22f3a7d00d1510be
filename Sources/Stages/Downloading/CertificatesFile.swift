import ImageModel
import Linux

/// A file of trusted certificates, looked at before the first transfer: libcurl would say of each
/// transfer that it cannot use it.
enum CertificatesFile {
    private static let bytesMax = 16 << 20
    private static let mark = Array("-----BEGIN CERTIFICATE-----".utf8)

    /// Throws `invalidRequest` for a file that cannot be read or has no certificate in PEM.
    static func check(_ path: String) throws(ImageError) {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try FileDescriptor.open(path).readToEnd(bytesMax: bytesMax)
        } catch {
            throw ImageError(.invalidRequest, "--ca-file \(path) cannot be read: \(error)")
        }
        guard bytes.firstRange(of: mark) != nil else {
            throw ImageError(
                .invalidRequest,
                "--ca-file \(path) has no certificate in PEM, which begins with "
                    + String(decoding: mark, as: UTF8.self))
        }
    }
}
