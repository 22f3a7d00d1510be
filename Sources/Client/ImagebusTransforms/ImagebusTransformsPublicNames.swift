// The types of other modules that appear in this library's public declarations are re-exported, so
// that users need to import only `ImagebusTransforms`.

@_exported public import enum ImageModel.BlendMode
@_exported public import struct ImageModel.Color
@_exported public import struct ImageModel.Corners
@_exported public import enum ImageModel.ErrorCode
@_exported public import enum ImageModel.Gravity
@_exported public import struct ImageModel.ImageError
@_exported public import enum ImageModel.ImageFormat
@_exported public import struct ImageModel.OutputOptions
@_exported public import struct ImageModel.PixelRect
@_exported public import struct ImageModel.PixelSize
@_exported public import enum ImageModel.ResizeMode
@_exported public import struct ImageModel.Rotation
@_exported public import enum ImageModel.TransformStep
@_exported public import struct Messages.ImageLimits
