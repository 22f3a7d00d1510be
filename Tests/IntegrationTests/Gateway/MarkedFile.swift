/// Images with a GPS location in every part of a file that can contain one, and what other programs
/// read from them.
enum MarkedFile {
    /// Texts that are in a source, and in no response without its metadata.
    private static let hidden = ["SECRETPLACE", "GPSLatitude", "BEHINDTHEEND"]

    /// A JPEG, PNG or WebP of 60 × 40 pixels that is displayed rotated by 90 degrees. Every call
    /// returns the same bytes: a new file would differ, since its profile contains the creation
    /// time.
    static func bytes(_ format: String) throws -> [UInt8] {
        switch format {
        case "jpg": try jpeg.get()
        case "png": try png.get()
        default: try webp.get()
        }
    }

    private static let jpeg = Result { try produce("jpg") }
    private static let png = Result { try produce("png") }
    private static let webp = Result { try produce("webp") }

    private static func produce(_ format: String) throws -> [UInt8] {
        let folder = TemporaryDirectory()
        let file = folder.file("a.\(format)")
        try Tool.run([
            "python3", "-c",
            """
            import sys; from PIL import Image, ImageCms, ImageDraw
            image = Image.new("RGB", (60, 40), (40, 90, 160))
            draw = ImageDraw.Draw(image)
            for place in range(12):
                draw.rectangle((place * 5, place * 3, place * 5 + 8, 30), (place * 20, 50, 9))
            profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
            image.save(sys.argv[1], icc_profile=profile, quality=90)
            """, file,
        ])
        var line = [
            "exiftool", "-q", "-overwrite_original", "-n", "-EXIF:Orientation=6",
            "-EXIF:Artist=Ada Lovelace", "-EXIF:Copyright=(c) Ada", "-EXIF:Make=SECRETPLACE",
            "-EXIF:GPSLatitude=52.5", "-EXIF:GPSLatitudeRef=N", "-EXIF:GPSLongitude=13.4",
            "-EXIF:GPSLongitudeRef=E", "-XMP-exif:GPSLatitude=52.5",
            "-XMP-photoshop:City=SECRETPLACE", "-XMP-dc:Rights=(c) Ada",
        ]
        if format == "jpg" {
            line += [
                "-IPTC:City=SECRETPLACE", "-IPTC:By-line=Ada Lovelace", "-Comment=SECRETPLACE",
            ]
        }
        if format == "png" {
            line += ["-PNG:Comment=SECRETPLACE", "-PNG:Title=SECRETPLACE"]
        }
        try Tool.run(line + [file])
        guard let bytes = FileBytes.read(file) else { throw StackFailure("no \(file)") }
        return bytes + Array("BEHINDTHEEND".utf8)
    }

    /// Those of the hidden texts that the bytes contain.
    static func secrets(in bytes: [UInt8]) -> [String] {
        hidden.filter { bytes.firstRange(of: Array($0.utf8)) != nil }
    }

    /// The fields read by exiftool that a camera, a person or an editor wrote, as `NAME=VALUE`.
    static func tags(_ bytes: [UInt8]) throws -> Set<String> {
        let folder = TemporaryDirectory()
        let output = try Tool.run([
            "exiftool", "-n", "-S", "-a", "-EXIF:all", "-XMP:all", "-IPTC:all", "-GPS:all",
            "-Comment", "-PNG:Comment", "-PNG:Title", folder.write(bytes, to: "a"),
        ])
        let structural = ["XMPToolkit", "ApplicationRecordVersion", "CodedCharacterSet"]
        return Set(
            String(decoding: output, as: UTF8.self).split(separator: "\n").compactMap { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2, !structural.contains(String(parts[0])) else { return nil }
                return "\(parts[0])=\(parts[1].drop { $0 == " " })"
            })
    }

    /// The result of `tags` if only rights and orientation were kept.
    static func rights(_ format: String) -> Set<String> {
        var expected: Set = [
            "Orientation=6", "Artist=Ada Lovelace", "Copyright=(c) Ada", "Rights=(c) Ada",
        ]
        if format == "jpg" { expected.insert("By-line=Ada Lovelace") }
        return expected
    }

    /// The size and stored pixels, a digest of the profile, and the orientation, as read by Pillow.
    static func pixels(_ bytes: [UInt8]) throws -> String {
        let script = """
            import hashlib, io, sys; from PIL import Image
            image = Image.open(io.BytesIO(sys.stdin.buffer.read()))
            profile = image.info.get("icc_profile", b"")
            print(image.size, image.getexif().get(274), hashlib.sha256(profile).hexdigest(),
                  hashlib.sha256(image.convert("RGB").tobytes()).hexdigest())
            """
        let output = try Tool.run(["python3", "-c", script], input: bytes)
        return String(decoding: output, as: UTF8.self)
    }

    /// Makes a cache directory look as if written by a stack without revisions, and stores the
    /// source, with its location, under the keys of all results.
    static func makeOlder(_ directory: String, source: String) throws {
        try Tool.run([
            "python3", "-c",
            """
            import sqlite3, sys
            index = sqlite3.connect(sys.argv[1] + "/index.sqlite")
            source = index.execute(
                "SELECT body_length, checksum, width, height, body FROM entries WHERE key = ?",
                [sys.argv[2]]).fetchone()
            assert source and source[4] and b"GPSLatitude" in source[4], source
            changed = index.execute(
                "UPDATE entries SET body_length=?, checksum=?, width=?, height=?, body=? "
                "WHERE key LIKE '%(%'", source).rowcount
            assert changed >= 3, changed
            index.execute("UPDATE entries SET samples = samples & 255")
            index.execute("DELETE FROM extras")
            index.commit()
            """, directory, source,
        ])
    }
}
