/// ICC profiles from other software.
public enum ExternalProfile {
    /// A profile built into libvips: `srgb`, `p3` or `cmyk`.
    public static func named(_ name: String) throws -> [UInt8] {
        let folder = TemporaryDirectory()
        let (plain, colored) = (folder.file("a.tif"), folder.file("b.tif"))
        try Tool.run(["vips", "black", plain, "8", "8", "--bands", "3"])
        try Tool.run(["vips", "icc_transform", plain, colored, name, "--input-profile", "srgb"])
        return try Tool.run([
            "python3", "-c",
            """
            import sys; from PIL import Image
            sys.stdout.buffer.write(Image.open(sys.argv[1]).info['icc_profile'])
            """, colored,
        ])
    }
}
