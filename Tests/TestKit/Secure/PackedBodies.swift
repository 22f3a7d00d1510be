/// Bodies in content codings: regular ones, and decompression bombs.
public enum PackedBodies {
    /// The bytes compressed by `gzip`.
    public static func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
        try Tool.run(["gzip", "--stdout"], input: bytes)
    }

    /// The bytes as Base64 with line breaks.
    public static func base64(_ bytes: [UInt8]) throws -> [UInt8] {
        try Tool.run(["base64"], input: bytes)
    }

    /// Nonce, AES-256-GCM ciphertext and tag, created by Python's `cryptography` with a key of the
    /// bytes 0 to 31.
    public static func sealed(_ bytes: [UInt8]) throws -> [UInt8] {
        let script = """
            import os, sys
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
            nonce = os.urandom(12)
            sealed = AESGCM(bytes(range(32))).encrypt(nonce, sys.stdin.buffer.read(), None)
            sys.stdout.buffer.write(nonce + sealed)
            """
        return try Tool.run(["python3", "-c", script], input: bytes)
    }

    /// The bytes compressed by zlib, with its header or as raw deflate.
    public static func deflate(_ bytes: [UInt8], hasHeader: Bool = true) throws -> [UInt8] {
        let script = """
            import sys, zlib
            packer = zlib.compressobj(9, zlib.DEFLATED, \(hasHeader ? 15 : -15))
            bytes = packer.compress(sys.stdin.buffer.read()) + packer.flush()
            sys.stdout.buffer.write(bytes)
            """
        return try Tool.run(["python3", "-c", script], input: bytes)
    }

    /// One layer of gzip that inflates to this many MiB of zeros; its checksum is wrong.
    public static func zeros(mebibytes: Int) throws -> [UInt8] {
        try run("sys.stdout.buffer.write(stream(bytes(1 << 20), \(mebibytes)))")
    }

    /// Four layers of gzip. The third inflates to `count` times 16 MiB, which consist of empty
    /// blocks for the last layer, so that no limit on the body is ever reached.
    public static func nested(_ count: Int) throws -> [UInt8] {
        try run(
            """
            blocks = bytes([0, 0, 0, 255, 255]) * ((16 << 20) // 5)
            second = HEADER + part(HEADER) + part(blocks) * \(count)
            sys.stdout.buffer.write(gzip.compress(gzip.compress(second)))
            """)
    }

    /// A zstd frame with a window of 128 MiB and `blocks` blocks of 128 KiB, each of 4 bytes.
    public static func zstd(blocks: Int) -> [UInt8] {
        [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x88]
            + Array(repeating: [0x02, 0x00, 0x10, 0x41] as [UInt8], count: blocks).joined()
    }

    private static func run(_ script: String) throws -> [UInt8] {
        let head = """
            import gzip, sys, zlib
            HEADER = bytes([31, 139, 8, 0, 0, 0, 0, 0, 0, 3])
            def part(data):
                packer = zlib.compressobj(9, zlib.DEFLATED, -15)
                return packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH)
            def stream(data, count):
                return HEADER + part(data) * count + bytes([3, 0]) + bytes(8)
            """
        return try Tool.run(["python3", "-c", head + "\n" + script])
    }
}
