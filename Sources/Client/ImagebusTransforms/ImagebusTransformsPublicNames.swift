// The types of other modules that appear in this library's public declarations are re-exported, so
// that users need to import only `ImagebusTransforms`.

@_exported public import enum Model.BlendMode
@_exported public import struct Model.Color
@_exported public import struct Model.ColorMatrix
@_exported public import struct Model.Corners
@_exported public import enum Model.ErrorCode
@_exported public import enum Model.Gravity
@_exported public import struct Model.ImageError
@_exported public import enum Model.ImageFormat
@_exported public import struct Model.ImageLimits
@_exported public import struct Model.OutputOptions
@_exported public import struct Model.PixelRect
@_exported public import struct Model.PixelSize
@_exported public import enum Model.ResizeMode
@_exported public import struct Model.Rotation
@_exported public import enum Model.TransformStep
